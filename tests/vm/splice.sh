# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# Any program may take the pages, with sendfile(2) and splice(2): to a file, a pipe and sockets; until a limit, a stop, a
# signal or its own end. Pages are whole and in order, are not used again while they are on their way, and outlive the
# module. See splice.c.

. "$TOP/tests/vm/lib.sh"

odd=$TOP/build/tests/vm/sample/$(uname -r)/fkt_odd.ko

for test in file pipe unix tcp limit stop signal others poll pause hotplug unload; do
	echo "--- $test"
	timeout 120 splice $test
	check "$test" [ $? = 0 ]
	check 'idle in the end' wait_until 10 idle
done

echo '--- attach'
timeout 60 splice attach
check 'attach' [ $? = 0 ]

the_rest_takes_long

# Marks keep what they say also when a CPU is stolen, as by a hypervisor, between an event's clock and its slot: at the
# exchange that follows the clock in the way of the events that begin a page, of a lane that is not shared: it has no lock.
echo '--- order'
ko=$(find /run/fkt-vm -name fkt.ko)
at=$(objdump -d --no-show-raw-insn --disassemble=fkt_reserve_slow "$ko" | tee code | perl -ne '
	$base = hex $1 if /^([0-9a-f]+) <fkt_reserve_slow>:/;
	$clock = 1 if /\trdtsc\b/;
	printf("%u\n", hex($1) - $base), exit if $clock && /^ *([0-9a-f]+):\tcmpxchg/')
check 'the exchange is found' [ -n "$at" ]
insmod "$odd" steal=fkt_reserve_slow steal_at="$at" || cat code
timeout 60 splice order
check 'order' [ $? = 0 ]
check 'the CPU was stolen' [ "$(cat /sys/module/fkt_odd/parameters/stolen)" -gt 50 ]
rmmod fkt_odd

expect 0 fkt_record -o t calls 1000
check 'fkt_record works as before' [ "$(count t 006e)" = 1000 ]
