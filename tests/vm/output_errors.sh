# SPDX-License-Identifier: GPL-2.0-only
# limit: 180 s
#
# Outputs that fail in odd ways: each is said, and ends the recording; none leaves a hole that nobody knows of. And it is
# written as whoever began the recording would write.

. "$TOP/tests/vm/lib.sh"

odd=$TOP/build/tests/vm/sample/$(uname -r)/fkt_odd.ko
modprobe loop
mkdir mnt thin

echo '--- a disk that fails behind the page cache, and is well again'
# A device of 64 MB for which there is room for 6. Kernels differ in what they call that.
mount -t tmpfs -o size=6M none thin
truncate -s 64M thin/image
mkfs.ext4 -q -O ^has_journal thin/image
mount -o loop thin/image mnt
start_recorder -n -o - >mnt/t
before=$(dmesg | wc -l)
calls -c 0 400000 >/dev/null
check 'the disk fails' wait_until 60 sh -c 'dmesg | tail -n +$(($1 + 1)) |
	grep -qE "loop0.*error|error.*loop0"' sh "$before"
mount -o remount,size=80M thin
calls -c 0 1000 >/dev/null
sleep 2
stop_recorder 2>/dev/null
df thin
check 'it fails' [ $status = 1 ]
check 'it says why' grep -qE '(Input/output error|No space left on device); the trace ends there' recorder.err
check 'idle again' wait_until 10 idle
umount mnt
umount thin

echo '--- RLIMIT_FSIZE'
expect 1 bash -c 'ulimit -f 2048; exec fkt_record -o t calls 300000'
check 'the command ran to its end' [ "$out" = 300000 ]
said 't: File too large; the trace ends there'
ls -l t
check 'it is no larger' between 2000000 "$(stat -c %s t)" 2097152
recorded=$(recorded)
check 'what was recorded is there' [ "$(fkt_print --no-summary t 2>/dev/null | grep -vc '^\*\*\*')" = $((recorded + 2)) ]
rm t

echo '--- blocks that are reserved'
truncate -s 16M image
mkfs.ext4 -q -O ^has_journal -m 40 image
tune2fs -u 65534 image >/dev/null
mount -o loop image mnt
reserved=$(($(stat -f -c '%f - %a' mnt)))
expect 1 setpriv --bounding-set -sys_resource --inh-caps -sys_resource fkt_record -o mnt/t calls 900000
said 'mnt/t: No space left on device; the trace ends there'
stat -f -c '%f blocks are free, %a of them for anybody' mnt
check "the $reserved blocks are still reserved" between $((reserved - 8)) "$(stat -f -c %f mnt)" $((2 * reserved))
umount mnt

echo '--- an output that does not wait'
mkfifo fifo
perl "$TOP/tests/vm/slow_reader.pl" 2 <fifo >t &
reader=$!
background+=($reader)
perl -MFcntl -e 'fcntl STDOUT, F_SETFL, O_NONBLOCK | fcntl STDOUT, F_GETFL, 0; exec @ARGV' \
	fkt_record -p 11 -o - calls -c 0 100000 >fifo 2>record.err
check 'fkt_record ends well' [ $? = 0 ]
wait $reader
cat record.err
check 'all calls are there' [ "$(count t 006e)" = 100000 ]
check 'nothing was lost' [ "$(lost record.err)" = 0 ]

echo '--- a file system without memory'
# Among the pages: behind all that a short trace has, which is mostly its head.
fkt_record -o t true 2>/dev/null
insmod "$odd" fail_at=$(($(stat -c %s t) + 300000))
wait_until 5 test -c /dev/fkt_odd
expect 1 bash -c 'fkt_record -o - calls 100000 >/dev/fkt_odd'
said 'Cannot allocate memory; the trace ends there'
rmmod fkt_odd

echo '--- a security module that says no'
mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
if grep -qw bpf /sys/kernel/security/lsm; then
	expect 0 deny nobody fkt_record -o t calls 1000
	expect 1 deny fkt_flush fkt_record -o t calls 1000
	said 't: Permission denied; the trace ends there'
	check 'the command ran to its end' [ "$out" = 1000 ]
	check 'idle again' wait_until 10 idle
fi
