# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# Any program may take the pages, with sendfile(2) and splice(2): to a file, a pipe and sockets; until a limit, a stop, a
# signal or its own end. Pages are whole and in order, are not used again while they are on their way, and outlive the
# module. See splice.c.

. "$TOP/tests/vm/lib.sh"

for test in file pipe unix tcp limit stop signal others unload; do
	echo "--- $test"
	timeout 60 splice $test
	check "$test" [ $? = 0 ]
	check 'idle in the end' wait_until 10 idle
done
expect 0 fkt_record -o t calls 1000
check 'fkt_record works as before' [ "$(count t 006e)" = 1000 ]
