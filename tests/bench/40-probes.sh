#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a probe in a user's module adds to a function, in instructions: with no, two and five arguments, off and on; and
# what gcc's instrumentation adds to a function, entry and exit. tests/bench/run says what is printed and how.

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
modules=/sys/module

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
	fkt_record -n -k "$1" -o $disk/trace 2>$disk/summary &
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
	tell_lost fkt
}

guest() {
	local samples=$top/build/tests/vm/sample/$2 off on

	insmod "$samples/fkt_sample.ko" && insmod "$samples/fkt_instrumented.ko" || return 1
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

main --timeout 600 -- "$@"
