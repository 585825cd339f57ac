# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# CPUs that go and come while it records: the events of a CPU are there up to when it goes, and from when it comes again.

. "$TOP/tests/vm/lib.sh"

cpu=/sys/devices/system/cpu/cpu1
[ -w $cpu/online ] || skip 'CPU 1 cannot be taken offline'

# How many calls each CPU's part of the trace has.
calls_of() {
	events "$1" | awk '$3 == "006e" { n[$1]++ } END { for (c in n) print c, n[c] }' | sort
}

hotplug() {
	start_recorder -n "$@" -o t
	calls -c 1 1000 >/dev/null
	echo 0 >$cpu/online || fail 'offline'
	calls -c 0 2000 >/dev/null
	check 'it is gone' [ "$(cat $cpu/online)" = 0 ]
	sleep 1
	echo 1 >$cpu/online || fail 'online'
	calls -c 1 4000 >/dev/null
	for i in {1..5}; do
		echo 0 >$cpu/online
		echo 1 >$cpu/online
	done
	calls -c 1 8000 >/dev/null
	stop_recorder
	check 'it ends well' [ "$status" = 0 ]
	check 'nothing was lost' [ "$(lost recorder.err)" = 0 ]
	expect 0 fkt_print -q t
	calls_of t >calls
	cat calls
	check 'CPU 0 made 2000 calls' grep -qx '0 2000' calls
	check 'CPU 1 made 13000 calls' grep -qx '1 13000' calls
}

hotplug

# What a CPU does last of all begins pages where it can wake nobody any more: nobody waits for that until it is back.
for i in {1..6}; do
	start_recorder -n -p 2 -k all -F '*cpu*' -F 'sched*' -F 'tick*' -F 'hrtimer*' -F 'rcu*' -F 'complete*' -o t
	echo 0 >$cpu/online || fail 'offline'
	stop_recorder
	check 'it ends while a CPU is gone' [ "$status" = 0 ]
	echo 1 >$cpu/online || fail 'online'
done
rm t

# A CPU that was not there when it began.
echo 0 >$cpu/online || fail 'offline'
start_recorder -n -o t
echo 1 >$cpu/online || fail 'online'
calls -c 1 3000 >/dev/null
stop_recorder
check 'it ends well' [ "$status" = 0 ]
calls_of t >calls
check 'CPU 1 made 3000 calls' grep -qx '1 3000' calls

# One for which there is no memory when it comes: it comes, and its events are lost until there is.
available() {
	sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo
}
echo 0 >$cpu/online || fail 'offline'
start_recorder -n -p 13 -o t
# Its pages, 32 MB, are to be more than half of what is left. Memory that CPUs kept for themselves may come back meanwhile.
echo 3 >/proc/sys/vm/drop_caches
mkdir hog
mount -t tmpfs -o size=100% none hog
for i in {1..12}; do
	left=$(($(available) / 1024))
	[ $left -gt 54 ] || break
	# Where memory is in pieces, there are no more huge pages.
	if [ $i -le 6 ]; then
		echo $(($(cat /proc/sys/vm/nr_hugepages) + (left - 50 + 1) / 2)) >/proc/sys/vm/nr_hugepages
	else
		head -c $((left - 50))M /dev/zero >hog/$i
	fi
done
echo "$left MB are left after $i rounds"
check 'it comes' sh -c "echo 1 >$cpu/online"
calls -c 1 3000 >/dev/null
echo 0 >/proc/sys/vm/nr_hugepages
umount hog
sleep 3
calls -c 1 5000 >/dev/null
stop_recorder
check 'it ends well' [ "$status" = 0 ]
check 'events of it were lost' [ "$(lost recorder.err)" -gt 6000 ]
check 'the log says it' grep -q 'fkt: no memory for CPU 1: its events are lost until there is' <(dmesg)
calls_of t >calls
cat calls
check 'CPU 1 made 5000 calls that are there' grep -qx '1 5000' calls

the_rest_takes_long

hotplug --lanes 1

# And one that comes and goes while recordings begin and end; not so often that nothing else gets to run.
(while :; do echo 0 >$cpu/online; sleep 0.05; echo 1 >$cpu/online; sleep 0.05; done) &
plugger=$!
background+=($plugger)
for i in {1..6}; do
	fkt_record -o t calls 200 >/dev/null 2>.err || fail "round $i: $(cat .err)"
	[ "$(count t 006e)" = 200 ] || fail "round $i: not all calls"
done
kill $plugger
wait $plugger 2>/dev/null
echo 1 >$cpu/online 2>/dev/null
check 'beginning and ending meanwhile' [ $failures = 0 ]
