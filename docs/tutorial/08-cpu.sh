#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 8. The CPU is busy: with what?

`--profile` takes samples, 997 a second on each CPU that is not idle, with the stacks of the kernel and of the program:
TEXT
head -c 3000000 /dev/urandom >noise
show "fkt_record --profile gzip -k noise"
show "fkt_print --profile" 24
answer "gzip\[.*%"
tell <<'TEXT'
The same as a picture, which a browser zooms and searches:
TEXT
show "fkt_print --flamegraph cpu.svg --flame-of samples"
test -s cpu.svg

tell <<'TEXT'
![fkt_print --flamegraph](flamegraph.png)
TEXT
