#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a probe at a tracepoint and at an address costs beyond the kernel's own share, which is what an empty function costs
# that is called in its place: in instructions, in one boot of a guest that counts them. tests/bench/run says what is
# printed and how.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
parameters=/sys/module/events_loop/parameters

# In the guest. measure tracepoint|function: what a round takes.
measure() {
	echo "$1" >$parameters/run && cat $parameters/run
}

# compare NAME tracepoint|function EMPTY OPTION…: rows for the empty probe, for FKT's, and for what FKT's has more.
compare() {
	local name=$1 what=$2 untraced empty fkt

	untraced=$(measure "$what")
	echo "$3" >$parameters/empty || return 1
	empty=$(measure "$what")
	echo none >$parameters/empty
	fkt=$(fkt_record -o $disk/trace "${@:4}" -- "$0" --measure "$what" 2>$disk/summary)
	tell_lost "$name" || return 1
	row "empty_$name" "$(minus "$empty" "$untraced")" instructions
	row "fkt_$name" "$(minus "$fkt" "$untraced")" instructions
	row "fkt_$name own" "$(minus "$fkt" "$empty")" instructions
}

guest() {
	load_events_loop "$1" || return 1
	compare tracepoint tracepoint tracepoint -p 12 -e 'kmem:kmem_cache_free $arg*' &&
		compare tracepoint_field tracepoint tracepoint -p 12 -e 'kmem:kmem_cache_free s->object_size' &&
		compare kprobe function kprobe -p 12 -P events_loop_function &&
		compare kretprobe function kretprobe -p 12 -P r:events_loop_function &&
		compare kprobe_argument function kprobe -p 12 -P 'events_loop_function value=%di:s32'
}

main --timeout 600 -- "$@"
