#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an event takes that a program writes, beside LTTng-UST's, on this machine's own CPUs, in one run: one thread, and two at the same
# time. FKT's are written into ordinary memory, with a thread in the kernel's place (user_loop.c), for no module is loaded here; what
# they take in a trace is told by a guest's: docs/applications.md. Who measures this should have two CPUs to himself.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

EVENTS=1000000
work=$(mktemp -d) || exit 1
daemon=
# shellcheck disable=SC2317
cleanup() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

# numbers WRITER THREADS
numbers() {
	"$tests/user_loop" "$1" "$2" $EVENTS
}

measure_fkt() {
	local threads=$1 ns made lost bytes

	read -r ns made lost bytes < <(numbers fkt "$threads") || return 1
	row "fkt_$threads" "$ns" ns
	row "fkt_$threads" "$(awk "BEGIN { printf \"%.2f\", 100 * $lost / $made }")" '% lost'
	[ "$threads" != 1 ] || row fkt_1 "$bytes" bytes
	fkt_ns=$ns
}

# What no event with a clock and an exchange can be cheaper than here.
measure_floor() {
	local threads=$1 ns

	read -r ns _ < <(numbers floor "$threads") || return 1
	row "floor_$threads" "$ns" ns
}

# A session of its own; what it writes goes to memory, so that no disk is measured.
measure_lttng() {
	local threads=$1 ns made there

	lttng create "bench$threads" --output="$work/lttng$threads" >/dev/null &&
		lttng enable-channel -u c --subbuf-size 4M --num-subbuf 8 >/dev/null &&
		lttng enable-event -u -c c user_loop:one >/dev/null && lttng start >/dev/null || return 1
	read -r ns made _ < <(numbers lttng "$threads") || return 1
	lttng stop >/dev/null 2>&1
	there=$(lttng list "bench$threads" | awk '/Discarded events/ { lost += $3 } END { print lost + 0 }')
	there=$((made - there))
	row "lttng_$threads" "$ns" ns
	row "fkt_$threads" "$(awk "BEGIN { printf \"%.2f\", $fkt_ns / $ns }")" of_lttng
	row "lttng_$threads" "$(awk "BEGIN { printf \"%.2f\", 100 * ($made - $there) / $made }")" '% lost'
	[ "$threads" != 1 ] || row lttng_1 "$(find "$work/lttng1" -name 'c_*' ! -name '*.idx' -printf '%s\n' |
		awk -v n=$there '{ bytes += $1 } END { printf "%.1f", bytes / n }')" bytes
	lttng destroy "bench$threads" >/dev/null 2>&1
	note "$threads threads: LTTng-UST $(awk "BEGIN { printf \"%.1f\", $ns / $fkt_ns }") times FKT's $fkt_ns ns"
}

have_lttng=
export LTTNG_HOME=$work/home
mkdir "$LTTNG_HOME"
if command -v lttng-sessiond >/dev/null; then
	lttng-sessiond --no-kernel >/dev/null 2>&1 &
	daemon=$!
	for _ in {1..50}; do
		lttng --no-sessiond list >/dev/null 2>&1 && have_lttng=yes && break
		sleep 0.1
	done
fi
[ "$have_lttng" ] || note 'lttng: left out, lttng-sessiond is not there or does not run'
for threads in 1 2; do
	measure_fkt $threads && measure_floor $threads || exit 1
	[ -z "$have_lttng" ] || measure_lttng $threads || note "lttng: left out with $threads threads, its session did not begin"
done
