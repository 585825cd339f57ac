# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# kill -9 of the recorder: the recording stops cleanly, all that was recorded before is in the file, the device is idle,
# and the next recording is as any other.

. "$TOP/tests/vm/lib.sh"

# After kill -9: no thread, no hook, no user of the module is left.
all_quiet() {
	idle && ! pgrep -x fkt_flush >/dev/null && ! pgrep -x fkt_sync >/dev/null
}

# killed WHAT: in the middle of a storm, after 20000 calls.
killed() {
	calls 20000 >/dev/null
	calls -t "$(nproc)" -s 60 >/dev/null &
	storm=$!
	background+=($storm)
	sleep 0.1
	kill -9 "$recorder"
	wait "$recorder" 2>/dev/null
	check "$1: everything is quiet soon" wait_until 20 all_quiet
	kill $storm
	wait $storm 2>/dev/null
}

# verify FILE: readable up to its last whole page, without a hole, and with all that came before the kill.
verify() {
	local entries exits lost

	expect 1 fkt_print -q "$1"
	one_sentence
	said 'the end sections are missing: the recording was cut off; read up to its last whole page'
	check 'no page is missing before its end' not grep -q '^File ' .out
	read -r _ _ entries exits < <(grep ' sys_getppid ' .out)
	lost=$(sed -n 's/^Lost  *\([0-9]*\) .*/\1/p' .out)
	check 'all calls before the kill are there' [ $((entries + ${lost:-0})) -ge 20000 ]
	check 'and their returns' [ $((exits + ${lost:-0})) -ge $((entries - $(nproc))) ]
	expect 0 fkt_record -o next calls 1000
	check 'the next recording has its calls' [ "$(count next 006e)" = 1000 ]
}

start_recorder -n -o t
killed 'a file'
verify t
start_recorder --lanes 1 -p 6 -o t sleep 100
killed 'one lane, with a command'
verify t
pkill -x sleep

fkt_record -n -o - 2>recorder.err > >(cat >t) &
recorder=$!
background+=($recorder)
wait_until 30 recording || die 'no recording'
killed 'a pipe'
wait_until 10 not pgrep -x cat
verify t

# With nothing recorded at all.
start_recorder -n -k 0 -o t
kill -9 "$recorder"
check 'everything is quiet soon' wait_until 20 all_quiet

# At any moment of its life.
for delay in 0 0.02 0.05 0.1 0.2 0.4; do
	fkt_record -n -o t.any 2>/dev/null &
	recorder=$!
	sleep $delay
	kill -9 $recorder
	wait $recorder 2>/dev/null
	wait_until 20 all_quiet || fail "after $delay s: not quiet"
done
expect 0 fkt_record -o t calls 1000
check 'and the next recording has its calls' [ "$(count t 006e)" = 1000 ]
