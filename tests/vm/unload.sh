# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# The module comes and goes: not while it records, at once when it does not, again and again, and it leaves nothing.

. "$TOP/tests/vm/lib.sh"

ko=/run/fkt-vm/fkt.ko
# More of them takes long.
rounds=$((12 / $(nproc))) storms=2
[ -z "${FKT_WHOLE-yes}" ] || rounds=$((2 * rounds)) storms=4

start_recorder -n -o t
expect 1 rmmod fkt
check 'the recording goes on' recording
calls 1000 >/dev/null
stop_recorder
check 'with all its calls' [ "$(count t 006e)" = 1000 ]

# An open device is a user as well.
exec 9<>/dev/fkt
expect 1 rmmod fkt
exec 9>&-
expect 0 rmmod fkt
check 'the device is gone' [ ! -e /dev/fkt ]
check 'no flush thread is left' not pgrep -x fkt_flush
check 'no synchronizing thread is left' not pgrep -x fkt_sync
check 'no symbol is left' not grep -q '\[fkt\]' /proc/kallsyms
expect 0 insmod $ko

# In kB. From 6.7 on each CPU keeps tens of megabytes of freed pages for itself, for some seconds; no total has those.
available() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemAvailable:/ { kb += $2 } $1 == "count:" { kb += 4 * $2 } END { print kb }' /proc/meminfo /proc/zoneinfo
}

# Once before memory is looked at: the first time fills caches.
fkt_record -o t calls -t "$(nproc)" 300 >/dev/null 2>&1
rmmod fkt
insmod $ko
begin=$(available)
for ((i = 0; i < rounds; i++)); do
	fkt_record -o t calls -t "$(nproc)" 300 >/dev/null 2>.err || fail "round $i: fkt_record: $(cat .err)"
	rmmod fkt || fail "round $i: rmmod"
	insmod $ko || fail "round $i: insmod"
done
check "$rounds rounds" [ $failures = 0 ]
rmmod fkt
insmod $ko
end=$(available)
# Each round uses 2 MB a CPU; half of that is more than what else changes.
check 'no memory is left behind' [ "$end" -gt $((begin - rounds * $(nproc) * 1024)) ]
echo "MemAvailable: $begin kB before, $end kB after"

# In the middle of a storm, so that probes run while they are taken away.
calls -t 2 -s 300 >/dev/null &
storm=$!
background+=($storm)
for ((i = 0; i < storms; i++)); do
	fkt_record -o t -s 1M true 2>/dev/null || fail "round $i: fkt_record"
	rmmod fkt || fail "round $i: rmmod"
	insmod $ko || fail "round $i: insmod"
done
kill $storm
check 'in a storm' [ $failures = 0 ]
