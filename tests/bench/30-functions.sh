#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What recording entry and exit of one function adds to a call of it, in instructions, beside the kernel's function_graph in
# the same boot of a guest that counts instructions. tests/bench/run says what is printed and how.
#
# The function has one argument, and getppid() calls it once: __task_pid_nr_ns().

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
loop=$top/build/tests/bench/getppid_loop
tracing=/sys/kernel/tracing
function=__task_pid_nr_ns

note() {
	printf 'functions: %s\n' "$1" >&2
}

host() {
	local series release

	for series in 6.1 6.12; do
		release=$("$top/scripts/kernels" --release "$series") &&
			"$top/scripts/vm" --kernel "$series" --icount --no-module --timeout 600 -- \
				"$0" --guest "function_$series" "$release" || return 1
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

fkt() {
	local tracer=$1
	shift

	added "$tracer" "$(fkt_record "$@" -o /mnt/disk/trace -- "$loop" 2>/mnt/disk/summary)"
	grep -q ', 0 lost' /mnt/disk/summary || note "$tracer: $(cat /mnt/disk/summary)"
}

guest() {
	bench=$1
	failed=0
	untraced=$("$loop")
	row untraced "$untraced" instructions

	insmod "$top/build/kmod/$2/gate/fkt_gate.ko" && insmod "$top/build/kmod/$2/fkt.ko" || return 1
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

case ${1-} in
--guest)	shift; guest "$@" ;;
*)		host ;;
esac
