#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a probe in a user's module adds to a function, in instructions: with no, two and five arguments, off and on; and
# what gcc's instrumentation adds to a function, entry and exit. tests/bench/run says what is printed and how.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
modules=/sys/module

host() {
	local series

	for series in 6.1 6.12; do
		"$top/scripts/vm" --kernel "$series" --icount --timeout 600 -- "$0" --guest "probes_$series" \
			"$top/build/tests/vm/sample/$series" || return 1
	done
}

# In the guest.
row() {
	printf '%s\t%s\t%s\t%s\n' "$bench" "$1" "$2" "$3"
}

# measure NAME: what the module itself counts.
measure() {
	local values

	mapfile -t values <"$modules/fkt_sample/parameters/measure"
	row "probe0_$1" "${values[0]}" instructions
	row "probe2_$1" "${values[1]}" instructions
	row "probe5_$1" "${values[2]}" instructions
}

# instrumented: instructions a call of instr_top(), which makes 7 pairs.
calls=4000
instrumented() {
	local begin=${EPOCHREALTIME/./}

	echo $calls >$modules/fkt_instrumented/parameters/run
	echo $(((${EPOCHREALTIME/./} - begin) * 1000 / calls))
}

record() {
	fkt_record -n -k "$1" -o /mnt/disk/trace 2>/mnt/disk/summary &
	recorder=$!
	for _ in $(seq 200); do
		fkt_enable "$1" 2>/dev/null && return
		sleep 0.05
	done
	return 1
}

stop() {
	kill -INT $recorder
	wait $recorder
	grep -q ', 0 lost' /mnt/disk/summary || cat /mnt/disk/summary >&2
}

guest() {
	local off on

	bench=$1
	insmod "$2/fkt_sample.ko" && insmod "$2/fkt_instrumented.ko" || return 1
	measure idle
	record system || return 1
	measure off
	stop
	record modules || return 1
	measure on
	stop

	off=$(instrumented)
	record gcc || return 1
	on=$(instrumented)
	stop
	row gcc_pair_on "$(awk "BEGIN { printf \"%.1f\", ($on - $off) / 7 }")" instructions
}

case ${1-} in
--guest)	shift; guest "$@" ;;
*)		host ;;
esac
