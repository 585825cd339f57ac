#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 6. It happens at three in the morning

A flight recorder keeps the newest events in memory, for as long as it takes, and writes them to disk when what one waits for has
happened: here a `read()` of more than 150 ms in a program that is called `victim`, and what comes within 50 ms after it. (`-n` in
place of a command, and it goes on until Ctrl-C.)
TEXT
mkfifo pipe
show "fkt_record --ring 16M --trigger 'sys_read>150ms comm==victim' --after 50ms -o night perl -e '
        \$0 = \"victim\"; open F, \"<\", \"/dev/zero\"; for (1..300) { sysread F, \$x, 100000 }
        open P, \"sleep 0.3; echo late |\"; print scalar <P>; select undef, undef, undef, 0.2'"
show "ls night*"
tell <<'TEXT'
`fkt_print` begins shortly before the trigger:
TEXT
show "fkt_print --no-summary night.1 | grep -B12 -A3 trigger" 24
answer trigger
show "fkt_print --waits --process=victim --from trigger-200ms night.1"
answer 'sys_read'
tell <<'TEXT'
`victim` slept in `read()` until a shell wrote into its pipe: the program at the pipe's other end is what is slow. `--from trigger-200ms` is
200 ms before the trigger.
TEXT
