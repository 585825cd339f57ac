# SPDX-License-Identifier: GPL-2.0-only
# limit: 1800 s
#
# A recording, the module is removed within a second after it, with tasks asleep in the traced functions that wake up later, and
# comes again: HUNDRED times (default: 10). By hand:
#
#	scripts/vm --kernel 6.1 --timeout 1800 --share DIR -- env HUNDRED=100 tests/vm/guest hundred

. "$TOP/tests/vm/lib.sh"

ko=/run/fkt-vm/fkt.ko
rounds=${HUNDRED-10}

# In turns, so that a round's sleepers are in functions that the next one does not trace.
kinds=(
	'-F *_sys_read -F ksys_read -F vfs_read -F *pipe_read'
	'-F *_sys_futex -F do_futex -F do_sys_poll -F do_select -F do_wait -F *pipe_read'
	'-F __x64_sys_read -P r:ksys_read -P r:vfs_read'
	'-F schedule -F *pipe_read -F do_wait --args'
	'-k system,files'
	'-e sched:* -e irq:* -F vfs_*'
)

# The sleepers of a round wake up when two more rounds are over: their input is descriptor 20, 21, or 22.
sleep_begin() {
	rm -f "to$1" "from$1"
	mkfifo "to$1"
	sleepers <"to$1" >"from$1" &
	sleeper[$1]=$!
	background+=($!)
	eval "exec $((20 + $1))>to$1"
}

sleep_end() {
	[ -n "${sleeper[$1]-}" ] || return 0
	echo >&$((20 + $1))
	eval "exec $((20 + $1))>&-"
	wait "${sleeper[$1]}"
	sleeper[$1]=
	[ "$(sed 1d "from$1" | tr '\n' ' ')" = 'pipe ok poll ok select ok futex ok wait ok ' ] ||
		fail "round $round: the sleepers of place $1 got: $(tr '\n' ' ' <"from$1")"
}

# recorder_begin ARGUMENT…: as start_recorder, in less of the output.
recorder_begin() {
	fkt_record -n -o t "$@" 2>recorder.err &
	recorder=$!
	background+=("$recorder")
	wait_until 60 recording || die "round $round: fkt_record $* does not begin: $(cat recorder.err)"
}

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# The machine may be a slow one: then what counts is how long it takes when nothing was recorded.
limit_ms=1000
for i in 1 2 3; do
	begin_ms=$(now_ms)
	rmmod fkt || die 'rmmod'
	ms=$(($(now_ms) - begin_ms))
	insmod $ko || die 'insmod'
	[ $((ms * 6)) -le $limit_ms ] || limit_ms=$((ms * 6))
done

sleeper=()
longest_ms=0
late=0
for ((round = 0; round < rounds; round++)); do
	place=$((round % 3))
	sleep_end $place
	read -r -a arguments <<<"${kinds[round % ${#kinds[@]}]}"
	recorder_begin "${arguments[@]}"
	sleep_begin $place
	wait_until 100 grep -q asleep "from$place" || die "round $round: they do not fall asleep"
	kill -INT "$recorder"
	wait "$recorder" || fail "round $round: fkt_record: $(cat recorder.err)"
	begin_ms=$(now_ms)
	until rmmod fkt 2>.err; do
		[ $(($(now_ms) - begin_ms)) -lt 20000 ] || die "round $round: $(cat .err)"
		sleep 0.05
	done
	ms=$(($(now_ms) - begin_ms))
	[ $ms -le $longest_ms ] || longest_ms=$ms
	[ $ms -lt $limit_ms ] || { late=$((late + 1)); echo "round $round: ${kinds[round % ${#kinds[@]}]}: $ms ms"; }
	# Every other time somebody wakes up while there is no module.
	[ $((round % 2)) = 0 ] || sleep_end $(((round + 1) % 3))
	insmod $ko || die "round $round: insmod"
done
for place in 0 1 2; do
	sleep_end $place
done
echo "the longest rmmod was over $longest_ms ms after the recording"
check "$rounds rounds, and all sleepers got what they waited for" [ $failures = 0 ]
check "each time the module could be removed within $limit_ms ms" [ $late = 0 ]
