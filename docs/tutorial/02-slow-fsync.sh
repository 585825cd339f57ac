#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 2. One call is slow: which part of it?

A program writes to a file and calls `fsync()`. Most of these calls are quick, some are not. Which function of the kernel takes the
time? `-F` traces functions, here all of them, and `--graph` only while one that matches runs, in that thread:
TEXT
show "fkt_record -F '*' --graph __x64_sys_fsync perl -MIO::Handle -e '
        open F, \">\", \"log\"; for (1..50) { print F \"line\n\" x (\$_ % 10 ? 1 : 50000); F->flush; F->sync }'"
show "fkt_print --histogram=__x64_sys_fsync"
answer '^__x64_sys_fsync: .* p50 '
tell <<'TEXT'
A few take some ten times as long as most. These, and what they called that took long as well:
TEXT
show "fkt_print --graph --longer-than 4ms --no-summary --process=perl" 24
answer '__x64_sys_fsync'
tell <<'TEXT'
Long calls that sleep do so for somebody. Whom did they wait for?
TEXT
show "fkt_print --waits --function=__x64_sys_fsync --process=perl"
answer '^perl.* D '
