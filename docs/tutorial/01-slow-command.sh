#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 1. A command takes long, and uses no CPU

`find` looks through a directory tree for the first time since the machine has been started. It takes seconds, and `top` shows
next to nothing. What does it do in that time?
TEXT
sync
echo 3 >/proc/sys/vm/drop_caches
show "fkt_record find /usr/include -name '*.h' | wc -l"

tell <<'TEXT'
The trace is in `trace_file`. How much of the time does `find` run, and what does it wait for?
TEXT
show "fkt_print --waits --process=find" 16
answer '^find.* D .*getdents64 .*irq'
tell <<'TEXT'
It sleeps in state D, which is to say for a disk: in `getdents64` for the directories, in `newfstatat` for the inodes, and the
disk's interrupt ends each of these waits. One of them, event by event:
TEXT
show "fkt_print --process=find --no-summary | grep -m1 -B2 -A5 ' find.* D ==>'"
answer 'irq|wakeup|switch_to'
tell <<'TEXT'
The call goes to sleep, the interrupt wakes it, and it runs again as soon as there is a CPU for it: that it takes so long is the disk's,
not the scheduler's. The column Ready of `--waits` would say so, were it otherwise.
TEXT
