#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 3. A program says "not found": what has it looked for, and where?

`--strings` records what the arguments of system calls point to: paths, command lines, addresses. `--only-command` leaves out all but
the command and what comes of it:
TEXT
show "fkt_record --strings --only-command perl -e 'use lib \"/srv/lib\"; eval { require Acme::Config }; print \"no config\n\"'"
show "fkt_print --by errno,function | grep -v '^ok'"
answer 'ENOENT.*newfstatat|newfstatat.*ENOENT'
tell <<'TEXT'
Calls that fail are common: programs try one place after the other. Here they are as `strace -f -y` would show them, while the program
was not stopped once:
TEXT
show "fkt_print --strace | grep -o ' newfs.*Acme.*ENOENT'" 6
answer '/srv/lib/Acme/Config.pm'
