#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an event with the kernel's stack of 12 frames costs, in instructions, and with a program's of as many: FKT's and its
# peers', in one boot of a guest that counts them. tests/bench/run says what is printed and how.
#
# The event is a tracepoint that is passed in a module's write() to a parameter, without its fields. The program that writes
# has frame pointers.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
parameters=/sys/module/events_loop/parameters
event=kmem/kmem_cache_free

# In the guest: what a round takes.
measure() {
	"$top/build/tests/bench/deep_write" $parameters/run deep && cat $parameters/run
}

declare -A cost
added() {
	[ -n "${2-}" ] || { note "$1: nothing was measured"; return 1; }
	cost[$1]=$(minus "$2" "$untraced")
	row "$1" "${cost[$1]}" instructions
}

fkt() {
	added "$1" "$(fkt_record -o $disk/trace -p 12 -e kmem:kmem_cache_free "${@:2}" -- "$0" --measure 2>$disk/summary)"
	tell_lost "$1"
}

# ftrace WHO [OPTION]
ftrace() {
	[ $# = 1 ] || echo 1 >"$tracing/options/$2"
	echo 1 >$tracing/events/$event/enable
	added "$1" "$(measure)"
	echo 0 >$tracing/events/$event/enable
	[ $# = 1 ] || echo 0 >"$tracing/options/$2"
}

# With buffers so large that perf itself seldom runs within the loop.
perf_record() {
	added "$1" "$(perf record -m 8192 -e kmem:kmem_cache_free "${@:2}" -o $disk/perf.data -- "$0" --measure 2>$disk/summary)"
	rm -f $disk/perf.data
}

# try_bpftrace WHO STACK
try_bpftrace() {
	if ! command -v bpftrace >/dev/null; then
		note 'bpftrace: left out, it is not installed'
		return
	fi
	# What it runs has to be an ELF file.
	bpftrace -e "tracepoint:kmem:kmem_cache_free { @[$2] = count(); }" -c "$BASH $0 --measure" >$disk/bpftrace 2>$disk/summary
	added "$1" "$(grep -m 1 -E '^[0-9]+\.[0-9]+$' $disk/bpftrace)" || cat $disk/summary >&2
}

# frames PATTERN: of the first stack that it is in.
frames() {
	fkt_print --no-summary --stack --format json $disk/trace | grep -m 1 "$1" | sed 's/.*"stack":\[//; s/\]}$//' |
		tr , '\n' | wc -l
}

# compare KIND: FKT beside the cheapest of the others.
compare() {
	local name others=()

	for name in "${!cost[@]}"; do
		case $name in fkt*) ;; *_"$1") others+=("${cost[$name]}") ;; esac
	done
	row "fkt_$1" "$(of_cheapest "${cost[fkt_$1]}" "${others[@]}")" of_cheapest
}

guest() {
	load_events_loop "$1" || return 1
	untraced=$(measure)
	fkt fkt || return 1
	fkt fkt_stack --stack kmem:kmem_cache_free || return 1
	row fkt_stack "$(frames '\[events_loop\]')" frames
	fkt fkt_user --user-stack kmem:kmem_cache_free || return 1
	row fkt_user "$(frames 'deep+')" frames
	with_ftrace ftrace ftrace
	with_ftrace ftrace ftrace_stack stacktrace
	with_ftrace ftrace ftrace_user userstacktrace
	perf_record perf
	perf_record perf_stack -g --kernel-callchains
	perf_record perf_user -g --user-callchains
	try_bpftrace bpftrace_stack kstack
	try_bpftrace bpftrace_user ustack
	compare stack
	compare user
}

main --timeout 900 -- "$@"
