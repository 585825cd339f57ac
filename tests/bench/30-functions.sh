#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What recording entry and exit of one function adds to a call of it, in instructions, beside the kernel's function_graph in
# the same boot of a guest that counts instructions. tests/bench/run says what is printed and how.
#
# The function has one argument, and getppid() calls it once: __task_pid_nr_ns().

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
loop=$top/build/tests/bench/getppid_loop
bench=function
function=__task_pid_nr_ns

fkt() {
	local tracer=$1
	shift

	added "$tracer" "$(fkt_record "$@" -o $disk/trace -- "$loop" 2>$disk/summary)"
	tell_lost "$tracer"
}

guest() {
	failed=0
	untraced=$("$loop")
	row untraced "$untraced" instructions

	load_fkt "$1" || return 1
	fkt fkt -F $function
	fkt fkt_args --args -F $function
	fkt fkt_among_layers -F $function -k socket,transport,network
	added fkt_after "$("$loop")"

	[ -e $tracing/current_tracer ] || mount -t tracefs tracefs $tracing || return 1
	echo $function >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer || failed=1
	added function_graph "$("$loop")"
	echo nop >$tracing/current_tracer
	return $failed
}

main --no-module --timeout 600 -- "$@"
