# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The machine goes to sleep and wakes up while it is recorded: FKT's threads let themselves be frozen, and go on.

. "$TOP/tests/vm/lib.sh"

[ -w /sys/power/pm_test ] || skip 'this kernel has no /sys/power/pm_test'
# Freeze everything as for a suspension, wait a little, and wake up.
echo freezer >/sys/power/pm_test

start_recorder -n -o t
calls 1000 >/dev/null
calls -t "$(nproc)" -s 60 >/dev/null &
storm=$!
background+=($storm)
dmesg -C
check 'everything freezes, in a storm' sh -c 'echo freeze >/sys/power/state'
refuse 'no thread refused to' grep -iq 'refusing\|failed' <(dmesg)
check 'it was frozen' grep -q 'suspend debug: Waiting' <(dmesg)
kill $storm
calls 2000 >/dev/null
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
calls=$(count t 006e)
check "calls from before and after ($calls)" [ "$calls" -gt 3000 ]

# Whoever reads from a pipe is frozen before FKT's thread that writes into it, and that waits until he reads on. The limit within
# which all have to be frozen is 20 s by itself.
echo 2000 >/sys/power/pm_freeze_timeout
mkfifo pipe
cat pipe >copy &
reader=$!
background+=($reader)
start_recorder -n -o pipe
kill -STOP $reader
calls 60000 >/dev/null
check 'everything freezes, while a pipe is full' sh -c 'echo freeze >/sys/power/state'
kill -CONT $reader
calls 2000 >/dev/null
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
wait $reader
check 'all calls are there' [ "$(count copy 006e)" -ge 62000 ]

# The part of it on the last CPU, which on a real machine sets the counter of cycles back; this build of FKT does it, where
# the emulator does not.
rmmod fkt
insmod "$TOP/build/tests/vm/checked/$(uname -r)/fkt.ko" || die 'no fkt.ko with another clock'
insmod "$TOP/build/tests/vm/nap/$(uname -r)/nap.ko" || die 'no nap.ko'
for cpu in /sys/devices/system/cpu/cpu*/online; do
	[ ! -e "$cpu" ] || echo 0 >"$cpu" || die 'a processor does not go'
done

# nap MS…: naps, while system calls are made.
nap() {
	local ms

	while :; do
		calls 100 >/dev/null
		sleep 0.01
	done &
	background+=($!)
	for ms in "$@"; do
		sleep 0.1
		echo "$ms" >/sys/module/nap/parameters/ms || fail "no nap of $ms ms"
		sleep 0.1
	done
	kill $!
	wait $! 2>/dev/null
}

# listed FILE OPTION…: the events, with the time since the first one.
listed() {
	fkt_print --no-summary --time=rel "$@" | grep -E '^ *[0-9]+\.[0-9]+ +[0-9]+ '
}

for lanes in cpu $([ -z "${FKT_WHOLE-yes}" ] || echo 1); do
	file=nap-$lanes
	start_recorder -n --lanes $lanes -o $file
	begin=$(date +%s%N)
	calls 3000 >/dev/null
	nap 1 50 500
	calls 2000 >/dev/null
	end=$(date +%s%N)
	stop_recorder
	check 'the recording ends well' [ "$status" = 0 ]
	listed $file >all
	check 'all that was recorded is listed' [ "$(wc -l <all)" = "$(recorded recorder.err)" ]
	check 'no event is earlier than the one before' sort -c -s -n -k 1,1 all
	check 'the pauses are seen' [ "$(grep -c ' fkt_setmask .*mask=0x0 ' all)" = 3 ]
	check 'and their ends' [ "$(grep -A1 ' fkt_setmask .*mask=0x0 ' all | grep -c 'mask=0x[1-9]')" = 3 ]
	check "calls from before and after" [ "$(count $file 006e)" -gt 5000 ]
	# The kernel may think that it slept for up to a second more, or less, for its clock has no more than seconds.
	took=$(($(tail -1 all | awk '{ printf "%d", $1 * 1000 }') - (end - begin) / 1000000))
	check "the trace takes as long as it took, but for $took ms" between -4000 $took 4000
	# What is looked up finds the same.
	grep ' fkt_setmask .*mask=0x0 ' all | sed -n 2p | while read -r time _; do
		from=$(awk "BEGIN { print $time - 0.05 }")
		listed $file --from="$from" >part
		cmp -s part <(tail -n "$(wc -l <part)" all) && [ "$(wc -l <part)" -gt 2000 ] || echo "--from=$from differs"
	done >differences
	check 'what is looked up is found' [ ! -s differences ]
	cat differences
done

# A buffer that is full at that moment pauses the recording, which waking up does not undo.
start_recorder -n --on-full pause -o full
calls 300 >/dev/null
echo Y >/sys/module/fkt/parameters/full_asleep
echo 1 >/sys/module/nap/parameters/ms || fail 'no nap'
calls 500 >/dev/null
stop_recorder
check 'it stays paused' [ "$(count full 006e)" = 300 ]
check 'which is said' grep -qi paus recorder.err
rmmod fkt
insmod /run/fkt-vm/fkt.ko

the_rest_takes_long

# What is left is still being written when the machine falls asleep, to a disk that takes half a second for 64 KB.
if modprobe null_blk nr_devices=1 gb=1 memory_backed=1 irqmode=2 completion_nsec=500000000; then
	start_recorder -n -p 12 -o /dev/nullb0
	calls 200000 >/dev/null
	kill -INT "$recorder"
	check 'it stops' wait_until 10 not recording
	refuse 'it still writes' idle
	check 'everything freezes, while the rest is written' sh -c 'echo freeze >/sys/power/state'
	refuse 'and is not written yet' idle
	wait "$recorder"
	check 'the recording ends well' [ $? = 0 ]
fi
