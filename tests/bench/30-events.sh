#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a probe at a tracepoint and at an address costs beyond the kernel's own share, which is what an empty function costs
# that is called in its place: in instructions, in one boot of a guest that counts them. tests/bench/run says what is
# printed and how.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
parameters=/sys/module/events_loop/parameters
trace=/mnt/disk/trace

host() {
	local series release

	for series in 6.1 6.12; do
		release=$("$top/scripts/kernels" --release "$series") || return 1
		"$top/scripts/vm" --kernel "$series" --icount --timeout 600 -- "$0" --guest "events_$series" "$release" ||
			return 1
	done
}

# In the guest. measure tracepoint|function: what a round takes.
measure() {
	echo "$1" >$parameters/run && cat $parameters/run
}

row() {
	printf '%s\t%s\t%s\tinstructions\n' "$bench" "$1" "$(awk "BEGIN { printf \"%.1f\", $2 - $3 }")"
}

# compare NAME tracepoint|function EMPTY OPTION…: rows for the empty probe, for FKT's, and for what FKT's has more.
compare() {
	local name=$1 what=$2 untraced empty fkt

	untraced=$(measure "$what")
	echo "$3" >$parameters/empty || return 1
	empty=$(measure "$what")
	echo none >$parameters/empty
	fkt=$(fkt_record -o $trace "${@:4}" -- "$0" --measure "$what" 2>/mnt/disk/summary)
	grep -q ', 0 lost' /mnt/disk/summary || { cat /mnt/disk/summary >&2; return 1; }
	row "empty_$name" "$empty" "$untraced"
	row "fkt_$name" "$fkt" "$untraced"
	row "fkt_$name own" "$fkt" "$empty"
}

guest() {
	bench=$1
	insmod "$top/build/tests/bench/events_loop/$2/events_loop.ko" || return 1
	compare tracepoint tracepoint tracepoint -p 12 -e 'kmem:kmem_cache_free $arg*' &&
		compare tracepoint_field tracepoint tracepoint -p 12 -e 'kmem:kmem_cache_free s->object_size' &&
		compare kprobe function kprobe -p 12 -P events_loop_function &&
		compare kretprobe function kretprobe -p 12 -P r:events_loop_function &&
		compare kprobe_argument function kprobe -p 12 -P 'events_loop_function value=%di:s32'
}

case ${1-} in
--guest)	guest "$2" "$3" ;;
--measure)	measure "$2" ;;
*)		host ;;
esac
