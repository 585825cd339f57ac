#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an event with the kernel's stack of 12 frames costs, in instructions: FKT's and its peers', in one boot of a guest that
# counts them. tests/bench/run says what is printed and how.
#
# The event is a tracepoint that is passed in a module's write() to a parameter, without its fields.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
parameters=/sys/module/events_loop/parameters
disk=/mnt/disk
tracing=/sys/kernel/tracing
event=kmem/kmem_cache_free

note() {
	printf 'stacks: %s\n' "$1" >&2
}

host() {
	local series release

	for series in 6.1 6.12; do
		release=$("$top/scripts/kernels" --release "$series") &&
			"$top/scripts/vm" --kernel "$series" --icount --timeout 600 -- "$0" --guest "stacks_$series" "$release" ||
			return 1
	done
}

# In the guest: what a round takes.
measure() {
	echo deep >$parameters/run && cat $parameters/run
}

row() {
	printf '%s\t%s\t%s\t%s\n' "$bench" "$1" "$2" "$3"
}

declare -A cost
added() {
	cost[$1]=$(awk "BEGIN { printf \"%.1f\", ${2:-0} - $untraced }")
	row "$1" "${cost[$1]}" instructions
}

fkt() {
	added "$1" "$(fkt_record -o $disk/trace -p 12 -e kmem:kmem_cache_free "${@:2}" -- "$0" --measure 2>$disk/summary)"
	grep -q ', 0 lost' $disk/summary || { cat $disk/summary >&2; return 1; }
}

ftrace() {
	echo >$tracing/trace
	echo 65536 >$tracing/buffer_size_kb
	echo "$2" >$tracing/options/stacktrace
	echo 1 >$tracing/events/$event/enable
	added "$1" "$(measure)"
	echo 0 >$tracing/events/$event/enable
	echo 0 >$tracing/options/stacktrace
	echo >$tracing/trace
	echo 1 >$tracing/buffer_size_kb
}

# With buffers so large that perf itself seldom runs within the loop.
perf_record() {
	added "$1" "$(perf record -m 8192 -e kmem:kmem_cache_free "${@:2}" -o $disk/perf.data -- "$0" --measure 2>$disk/summary)"
	rm -f $disk/perf.data
}

try_bpftrace() {
	if ! command -v bpftrace >/dev/null; then
		note 'bpftrace: left out, it is not installed'
		return
	fi
	bpftrace -e 'tracepoint:kmem:kmem_cache_free { @[kstack] = count(); }' -c "$0 --measure" >$disk/bpftrace 2>$disk/summary
	added bpftrace_stack "$(grep -m 1 -E '^[0-9]+\.[0-9]+$' $disk/bpftrace)"
}

frames() {
	fkt_print --no-summary --stack --format json $disk/trace | grep -m 1 '\[events_loop\]' | sed 's/.*"stack":\[//; s/\]}$//' |
		tr , '\n' | wc -l
}

guest() {
	bench=$1
	insmod "$top/build/tests/bench/events_loop/$2/events_loop.ko" || return 1
	[ -e $tracing/current_tracer ] || mount -t tracefs tracefs $tracing || return 1
	untraced=$(measure)
	fkt fkt || return 1
	fkt fkt_stack --stack kmem:kmem_cache_free || return 1
	row fkt_stack "$(frames)" frames
	ftrace ftrace 0
	ftrace ftrace_stack 1
	perf_record perf
	perf_record perf_stack -g
	try_bpftrace
	row fkt_stack "$(for name in "${!cost[@]}"; do
		case $name in fkt*) ;; *_stack) echo "${cost[$name]}" ;; esac
	done | sort -n | awk 'NR == 1 { printf "%.2f\n", '"${cost[fkt_stack]}"' / $1 }')" of_cheapest
}

case ${1-} in
--guest)	guest "$2" "$3" ;;
--measure)	measure ;;
*)		host ;;
esac
