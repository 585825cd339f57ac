#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"
build lock -pthread

tell <<'TEXT'
## 4. Threads wait for each other: for whom, and where in the program?

A program has a thread that answers requests and one that writes a report, and a lock for both ([lock.c](tutorial/lock.c)). Answers
are sometimes late.
TEXT
show "fkt_record --user-stack switch,wakeup ./lock"
show "fkt_print --waits --process=answers"
answer 'answers.* S .*futex.*report'
tell <<'TEXT'
`answers` sleeps in `futex`: it waits for a lock. The thread that woke it is the one that had the lock: `report`. Where in the program
each was at these moments, by their stacks:
TEXT
show "fkt_print --by stack --process=answers" 18
answer 'report.*lock'
tell <<'TEXT'
`wakeup` is whose unlocking ended the wait: `report()`, from where it has called `write_report()`. That is the function to look at.
TEXT
