#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"
build shop

tell <<'TEXT'
## 9. The program's own events, among the kernel's

`#include <fkt/user.h>`, nothing to link, and a program has events of its own ([shop.c](tutorial/shop.c)). It takes orders, and some of them
are slow. In which step? `FKT_SPAN` makes a call of each:
TEXT
show "fkt_record -k system,application --only-command ./shop"
show "fkt_print --by function --code 'app:*' --elapsed"
answer '^app:order +50 '
answer '^app:write_down +50 '
tell <<'TEXT'
Of half of them `write_down` takes little, and at worst very much. On what, in the kernel?
TEXT
show "fkt_print --calls=app:write_down"
answer '^sys_fsync '
answer '^app:write_down ONLY '
show "fkt_print --graph --code 'app:*' --code sys_fsync | grep -B4 -A4 -m1 sys_fsync"
answer '\| +sys_fsync\(\)'
tell <<'TEXT'
One order in ten is made safe by an `fsync(2)`: each number is the kernel's, and its name the program's. Counters (`fkt_counter`) and texts
(`fkt_mark`) stand in the listing, between the system calls that surround them.
TEXT
