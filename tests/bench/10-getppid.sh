#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What recording entry and exit adds to a getppid(), in instructions, and how many bytes an event takes: FKT and its
# peers, in one boot of a guest that counts instructions. tests/bench/run says what is printed and how.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
loop=$top/build/tests/bench/getppid_loop
disk=/mnt/disk
tracing=/sys/kernel/tracing

note() {
	printf 'getppid: %s\n' "$1" >&2
}

host() {
	local series release

	for series in 6.1 6.12; do
		release=$("$top/scripts/kernels" --release "$series") &&
			"$top/scripts/vm" --kernel "$series" --icount --no-module --timeout 600 -- \
				"$0" --guest "getppid_$series" "$release" || return 1
	done
}

# In the guest.
row() {
	printf '%s\t%s\t%s\t%s\n' "$bench" "$1" "$2" "$3"
}

added() {
	if [ "$2" ]; then
		row "$1" "$(awk "BEGIN { printf \"%.1f\", $2 - $untraced }")" instructions
	else
		note "$1: the loop did not run"
		failed=1
	fi
}

bytes_an_event() {
	[ "${2-0}" != 0 ] && [ "${3-0}" != 0 ] && row "$1" "$(awk "BEGIN { printf \"%.2f\", $2 / $3 }")" bytes/event
}

# fkt_record's summary: "fkt_record: FILE: N events, N pages (…"; the pages are all that an event costs in the file.
fkt() {
	local tracer=$1 events pages
	shift

	added "$tracer" "$(fkt_record "$@" -o $disk/trace -- "$loop" 2>$disk/summary)"
	read -r events pages < <(sed -nE 's/^fkt_record: .*: ([0-9]+) events, ([0-9]+) pages.*/\1 \2/p' $disk/summary)
	grep -q ', 0 lost' $disk/summary || note "$tracer: $(cat $disk/summary)"
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

# The buffer holds all of it, so that what is in there is what was recorded.
ftrace() {
	local tracer=$1 event
	shift

	echo >$tracing/trace
	echo 65536 >$tracing/buffer_size_kb
	for event; do
		echo 1 >"$tracing/events/$event/enable"
	done
	added "$tracer" "$("$loop")"
	for event; do
		echo 0 >"$tracing/events/$event/enable"
	done
	bytes_an_event "$tracer" "$(sed -n 's/^bytes: //p' $tracing/per_cpu/cpu0/stats)" \
		"$(sed -n 's/^entries: //p' $tracing/per_cpu/cpu0/stats)"
	echo >$tracing/trace
	echo 1 >$tracing/buffer_size_kb
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
	bench=$1
	failed=0
	untraced=$("$loop")
	row untraced "$untraced" instructions

	insmod "$top/build/tests/bench/empty/$2/empty.ko" || return 1
	added empty_functions "$("$loop")"
	rmmod empty

	insmod "$top/build/kmod/$2/gate/fkt_gate.ko" && insmod "$top/build/kmod/$2/fkt.ko" || return 1
	added fkt_idle "$("$loop")"
	fkt fkt
	fkt fkt_lanes_1 --lanes 1
	fkt_masked
	fkt fkt_filter_passed --only-command
	fkt fkt_filtered_out --comm nobody
	fkt fkt_longer_than --longer-than 10ms
	added fkt_idle_after "$("$loop")"
	rmmod fkt

	ftrace ftrace_raw_syscalls raw_syscalls
	ftrace ftrace_getppid syscalls/sys_enter_getppid syscalls/sys_exit_getppid
	perf_record
	try_lttng
	return $failed
}

case ${1-} in
--guest)	shift; guest "$@" ;;
*)		host ;;
esac
