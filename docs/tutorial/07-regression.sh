#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 7. It was faster last week

Two versions of a program, of a library, or of a kernel: record both, several times, so that it can be told what is noise. Here the new
version writes its file in small pieces, each of which waits for the disk:
TEXT
cat >work-old <<'CODE'
#!/bin/sh
exec dd if=/dev/zero of=data bs=64k count=20 conv=fsync status=none
CODE
cat >work-new <<'CODE'
#!/bin/sh
exec dd if=/dev/zero of=data bs=4k count=320 oflag=dsync status=none
CODE
chmod +x work-old work-new
show 'cat work-old work-new'
show 'for i in 1 2 3; do fkt_record -o old.$i ./work-old; fkt_record -o new.$i ./work-new; done 2>&1 | cut -d, -f1'
show "fkt_diff old.? --against new.?" 40
answer 'dd D sys_write .*new'
tell <<'TEXT'
`sys_fsync` is gone, there are many more calls of `sys_write`, and in each of them `dd` now sleeps in state D: that is where the time went.
What differs by less than what the recordings of one side differ among each other is not in the tables.
TEXT
