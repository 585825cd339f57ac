# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# fkt_kgmon begins, dumps, resets and halts, and gprof reads what it dumps.

. "$TOP/tests/vm/lib.sh"

# ticks FUNCTION: its percent of the time, as gprof sees it in gmon.out.
percent() {
	gprof -b -p gmon.out.elf gmon.out | awk -v name="$1" 'NF > 2 && ($NF == name || $(NF - 1) == name) { print int($1); exit }'
}

expect 0 fkt_kgmon
check 'it says that it does not' grep -q 'is not being profiled' .out
expect 1 fkt_kgmon -p
said 'nothing to dump'
expect 1 fkt_kgmon -h
said 'not being profiled'

echo '--- as its manual has it'
expect 0 fkt_kgmon -b
expect 0 fkt_kgmon
check 'it says that it does' grep -q 'is being profiled' .out
expect 1 fkt_kgmon -b
said 'already'
hot $((3 * FKT_SLOW))
expect 0 fkt_kgmon -p
check 'gprof has the functions' [ "$(percent four_parts)" -ge 5 ]
check 'and who calls them' grep -q 'ksys_read' <(gprof -b -q gmon.out.elf gmon.out)
expect 0 fkt_kgmon -h
check 'nobody records' idle
expect 0 fkt_kgmon -p -o second

echo '--- what was reset is not there'
expect 0 fkt_kgmon -b
hot 2
expect 0 fkt_kgmon -r
sleep 1
expect 0 fkt_kgmon -h
expect 0 fkt_kgmon -p
check 'no function of before' [ -z "$(percent four_parts)" ]
expect 1 fkt_kgmon -p

echo '--- with numbers of calls'
expect 0 fkt_kgmon -B vfs_read
dd if=/dev/zero of=/dev/null bs=4k count=5000 2>/dev/null
expect 0 fkt_kgmon -p
calls=$(gprof -b -p gmon.out.elf gmon.out | awk '$NF == "vfs_read" { print $4 }')
check "all calls: $calls" between 5000 "$calls" 5500
# Whoever kills it leaves nothing that is in the way.
kill -9 "$(cat /run/fkt_kgmon/lock)"
wait_until 10 idle
expect 0 fkt_kgmon -b
expect 0 fkt_kgmon -h

echo '--- wrong'
expect 2 fkt_kgmon -b -h
expect 2 fkt_kgmon -o x
expect 1 fkt_kgmon -B no_such_function
said 'no_such_function'
# Another recording is none of its own.
start_recorder -n -o other
expect 1 fkt_kgmon -b
said 'something else records'
expect 0 fkt_kgmon
check 'it says that it does not profile' grep -q 'is not being profiled' .out
stop_recorder
