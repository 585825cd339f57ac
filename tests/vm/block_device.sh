# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# A block device as output: what is there from an older, longer recording is not taken for the new one's, whether that ends
# in order or not; and a device that is too small, full, or in use.

. "$TOP/tests/vm/lib.sh"

modprobe loop || die 'no loop devices'

# loop SIZE: a loop device of a new file, its name in $device.
loop() {
	truncate -s "$1" "image.$1" && device=$(losetup --direct-io=off -f --show "image.$1") || die "losetup"
}

loop 16M
expect 0 fkt_record -o "$device" calls -t "$(nproc)" 40000
check 'nothing was lost' [ "$(lost)" = 0 ]
recorded=$(recorded)
check "all $recorded events are read back" [ "$(events "$device" | grep -vc '^\*')" = "$recorded" ]
check 'all calls' [ "$(count "$device" 006e)" = $((40000 * $(nproc))) ]
check 'fkt_print is content' fkt_print -q "$device" >/dev/null

expect 0 fkt_record -o "$device" calls 1000
recorded=$(recorded)
expect 0 fkt_print --no-summary "$device"
check 'of the shorter recording its own events and no older ones' [ "$(tail -n +3 .out | wc -l)" = "$recorded" ]
check 'its calls' [ "$(count "$device" 006e)" = 1000 ]

# Cut off: no tail, and the older recording's pages follow.
start_recorder -n -o "$device" -p 4
calls 3000 >/dev/null
kill -9 "$recorder"
check 'idle again' wait_until 20 idle
expect 1 fkt_print --no-summary "$device"
said 'pages of another recording follow: this one was cut off'
one_sentence
check 'its calls' between 3000 "$(count "$device" 006e 2>/dev/null)" 3000

# The image of a device is a trace as well.
expect 0 fkt_record -o "$device" true
expect 0 fkt_print -q "$(losetup -n -O BACK-FILE "$device")"
losetup -d "$device"

loop 3M
expect 0 fkt_record -o "$device" calls -t "$(nproc)" 200000
said ': the device is full'
expect 0 fkt_print -q "$device"
bytes=$(sed -n 's/^Events .* pages, \([0-9]*\) bytes.*/\1/p' .out)
check 'the device is used up to its end' between $((1 << 20)) "$bytes" $((3 << 20))
losetup -d "$device"

loop 64K
expect 1 fkt_record -o "$device" true
one_sentence
losetup -d "$device"

loop 8M
# Read-only, so that nobody else writes to it meanwhile.
mkfs.ext4 -q "$device" && mkdir mnt && mount -o ro,noload "$device" mnt
sum=$(md5sum <"$device")
expect 1 fkt_record -o "$device" true
one_sentence
said 'in use; is it mounted'
check 'a mounted file system is left alone' [ "$sum" = "$(md5sum <"$device")" ]
umount mnt
losetup -d "$device"
