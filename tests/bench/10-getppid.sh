#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What recording entry and exit adds to a getppid(), in instructions, and how many bytes an event takes: FKT and its
# peers, in one boot of a guest that counts instructions. tests/bench/run says what is printed and how.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
loop=$top/build/tests/bench/getppid_loop

bytes_an_event() {
	[ "${2-0}" != 0 ] && [ "${3-0}" != 0 ] && row "$1" "$(awk "BEGIN { printf \"%.2f\", $2 / $3 }")" bytes/event
}

# fkt_record's summary: "fkt_record: FILE: N events, N pages (…"; the pages are all that an event costs in the file.
fkt() {
	local tracer=$1 events pages
	shift

	added "$tracer" "$(fkt_record "$@" -o $disk/trace -- "$loop" 2>$disk/summary)"
	read -r events pages < <(sed -nE 's/^fkt_record: .*: ([0-9]+) events, ([0-9]+) pages.*/\1 \2/p' $disk/summary)
	tell_lost "$tracer"
	bytes_an_event "$tracer" "$((${pages:-0} * 4096))" "${events:-0}"
}

fkt_masked() {
	local recorder

	fkt_record -n -o $disk/trace 2>$disk/summary &
	recorder=$!
	for _ in $(seq 200); do
		fkt_setmask 0 2>/dev/null && break
		sleep 0.05
	done
	fkt_setmask 0 || failed=1
	added fkt_mask_0 "$("$loop")"
	kill -INT $recorder
	wait $recorder || { note "fkt_mask_0: $(cat $disk/summary)"; failed=1; }
}

# What is in the buffer is what was recorded.
ftrace() {
	local tracer=$1 event
	shift

	for event; do
		echo 1 >"$tracing/events/$event/enable"
	done
	added "$tracer" "$("$loop")"
	for event; do
		echo 0 >"$tracing/events/$event/enable"
	done
	bytes_an_event "$tracer" "$(sed -n 's/^bytes: //p' $tracing/per_cpu/cpu0/stats)" \
		"$(sed -n 's/^entries: //p' $tracing/per_cpu/cpu0/stats)"
}

# With buffers so large that perf itself seldom runs within the loop.
perf_record() {
	local samples

	added perf "$(perf record -m 2048 -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -o $disk/perf.data \
		"$loop" 2>$disk/summary)"
	samples=$(sed -nE 's/.*\(([0-9]+) samples\).*/\1/p' $disk/summary)
	bytes_an_event perf "$(stat -c %s $disk/perf.data)" "${samples:-0}"
	rm -f $disk/perf.data
}

try_lttng() {
	if ! command -v lttng >/dev/null; then
		note "lttng: left out, it is not installed (Debian 12's lttng-modules 2.13.9 do not build on its newest 6.1 kernel)"
	elif ! modprobe lttng-tracer 2>/dev/null; then
		note "lttng: left out, there are no lttng-modules for this kernel"
	else
		lttng create bench --output $disk/lttng >/dev/null
		lttng enable-channel -k c --subbuf-size 1M --num-subbuf 4 >/dev/null
		lttng enable-event -k -c c --syscall getppid >/dev/null
		lttng start >/dev/null
		added lttng "$("$loop")"
		lttng destroy >/dev/null
		bytes_an_event lttng "$(find $disk/lttng -name 'c_*' -printf '%s\n' | awk '{ n += $1 } END { print n }')" \
			$((2 * 9 * 20000))
	fi
}

guest() {
	failed=0
	untraced=$("$loop")
	row untraced "$untraced" instructions

	insmod "$top/build/tests/bench/empty/$1/empty.ko" || return 1
	added empty_functions "$("$loop")"
	rmmod empty

	load_fkt "$1" || return 1
	added fkt_idle "$("$loop")"
	fkt fkt
	fkt fkt_lanes_1 --lanes 1
	fkt fkt_ring --ring 64M
	fkt_masked
	fkt fkt_filter_passed --only-command
	fkt fkt_filtered_out --comm nobody
	fkt fkt_longer_than --longer-than 10ms
	fkt fkt_counters_1 --counters page-faults
	fkt fkt_counters_4 --counters page-faults,context-switches,minor-faults,cpu-clock
	added fkt_idle_after "$("$loop")"
	rmmod fkt

	with_ftrace ftrace ftrace_raw_syscalls raw_syscalls
	with_ftrace ftrace ftrace_getppid syscalls/sys_enter_getppid syscalls/sys_exit_getppid
	perf_record
	try_lttng
	return $failed
}

main --no-module --timeout 600 -- "$@"
