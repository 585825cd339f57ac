#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 5. A thread comes too late: who was in its way?

A thread wants to run every 10 ms, and does not always: something else runs on its CPU. `--noise` shows what took the CPU from it, and
`--waits` how long it was ready and had none, when it had been woken:
TEXT
taskset -c 0 chrt -f 10 perl -e '$0 = "greedy"; while (1) { select undef, undef, undef, 0.03; for (1 .. 60000) { $x++ } }' &
cat >periodic <<'CODE'
$0 = "periodic";
for (1 .. 150) { select undef, undef, undef, 0.01; $x += $_ ** 2 for 1 .. 9000 }
CODE
show "fkt_record taskset -c 0 perl periodic"
show "fkt_print --noise --process=periodic"
answer 'greedy'
show "COLUMNS=120 fkt_print --waits --process=periodic"
answer 'periodic'
tell <<'TEXT'
The thread of the name `greedy` is what comes between: it runs by `SCHED_FIFO`, for some milliseconds, some 25 times a second, on the
same CPU. `chrt -p` or another CPU would help.
TEXT
