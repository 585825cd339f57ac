# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The file system is full: the command goes on, the trace is good up to there.

. "$TOP/tests/vm/lib.sh"

full() {
	local name=$1

	mkdir -p mnt
	expect 1 fkt_record -o mnt/t calls 300000
	check "$name: the command ran to its end" [ "$out" = 300000 ]
	said 'mnt/t: No space left on device; the trace ends there'
	check 'idle again' wait_until 10 idle
	recorded=$(recorded)
	run fkt_print --no-summary mnt/t
	check "$name: fkt_print knows whether the end is missing" between 0 "$status" 1
	check "$name: it reads all $recorded events that were written" \
		[ "$(grep -vc '^\*\*\*' .out)" = $((recorded + 2)) ]
	check "$name: that is a good deal" [ "$recorded" -gt 50000 ]
	check "$name: and they are calls" [ "$(count mnt/t 006e 2>/dev/null)" -gt 20000 ]
	ls -l mnt/t
	umount mnt
}

mkdir mnt
mount -t tmpfs -o size=3M none mnt
full tmpfs

modprobe loop
truncate -s 5M image
mkfs.ext4 -q -O ^has_journal image
mount -o loop image mnt
full ext4

mount -t tmpfs -o size=64K none mnt
expect 1 fkt_record -o mnt/t true
one_sentence
said "mnt/t: cannot write the trace's head: No space left on device"
check 'no trace' [ ! -e mnt/t ]
umount mnt
expect 1 fkt_record -o /dev/full true
one_sentence

# A list that is cut off is not all that there is.
for list in --list-layers '--list-functions vfs_*'; do
	expect 1 sh -c "fkt_record $list >/dev/full"
	one_sentence
	said 'standard output: No space left on device'
done
