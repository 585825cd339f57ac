# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What benches have in common. A bench sources it; tests/bench/run says what is printed and how.

# shellcheck disable=SC2034  # who sources it uses these
top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
tests=$top/build/tests/bench
kept=$top/build/bench
disk=/mnt/disk
tracing=/sys/kernel/tracing

# Of what file the bench is: 10-getppid.sh is getppid. In a guest it has the kernel's series behind it.
bench=${0##*/}
bench=${bench#*-}
bench=${bench%.sh}

note() {
	printf '%s: %s\n' "$bench" "$1" >&2
}

# row TRACER VALUE UNIT
row() {
	printf '%s\t%s\t%s\t%s\n' "$bench" "$1" "$2" "$3"
}

# in_guests [OPTION…]: this bench in a guest of each kernel that counts instructions; there its guest() gets the
# kernel's release and its series.
in_guests() {
	local series release

	for series in 6.1 6.12; do
		release=$("$top/scripts/kernels" --release "$series") &&
			"$top/scripts/vm" --kernel "$series" --icount "$@" -- "$0" --guest "$series" "$release" || return 1
	done
}

# main VM_OPTION… -- ARGUMENT…: what the arguments of a bench say that runs in guests: in a guest its guest(), for FKT's recorder
# its measure(), else both guests.
main() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	case ${1-} in
	--guest)
		bench+=_$2
		guest "$3" "$2"
		;;
	--measure)
		measure "${@:2}"
		;;
	*)
		in_guests "${options[@]}"
		;;
	esac
}

# load_fkt RELEASE: the modules, where a guest was begun without.
load_fkt() {
	insmod "$top/build/kmod/$1/gate/fkt_gate.ko" && insmod "$top/build/kmod/$1/fkt.ko"
}

# load_events_loop RELEASE: the module whose loops are measured, and ftrace's files.
load_events_loop() {
	insmod "$top/build/tests/bench/events_loop/$1/events_loop.ko" || return 1
	[ -e $tracing/current_tracer ] || mount -t tracefs tracefs $tracing
}

# minus A B
minus() {
	awk "BEGIN { printf \"%.1f\", $1 - $2 }"
}

# added TRACER MEASURED: what that is more than $untraced.
# shellcheck disable=SC2154  # the bench's guest() has measured it
added() {
	if [ "$2" ]; then
		row "$1" "$(minus "$2" "$untraced")" instructions
	else
		note "$1: the loop did not run"
		failed=1
	fi
}

# tell_lost WHO: what fkt_record said, if not all was recorded; false then.
tell_lost() {
	grep -q ', 0 lost' $disk/summary || { note "$1: $(cat $disk/summary)"; return 1; }
}

# with_ftrace COMMAND…: while ftrace's buffer holds all of what is measured.
with_ftrace() {
	echo >$tracing/trace
	echo 65536 >$tracing/buffer_size_kb
	"$@"
	echo >$tracing/trace
	echo 1 >$tracing/buffer_size_kb
}

# of_cheapest FKT TRACER_COST…: FKT's cost as a part of the least of the others.
of_cheapest() {
	printf '%s\n' "${@:2}" | sort -n | awk -v fkt="$1" 'NR == 1 { printf "%.2f\n", fkt / $1 }'
}

# least COLUMN ROUNDS COMMAND…: the least of some runs, of what the command prints at last, on standard error: of measure it is
# wall-clock time (1), CPU time (2) or memory (3).
least() {
	local n

	for ((n = 0; n < $2; n++)); do
		"${@:3}" 2>&1 >/dev/null | tail -1
	done | awk -v c="$1" 'NR == 1 || $c < least { least = $c } END { print least }'
}

# per_event SECONDS EVENTS: in nanoseconds.
per_event() {
	awk "BEGIN { printf \"%.1f\", $1 * 1e9 / $2 }"
}

# extent [OPTION…]: of $trace, or what options leave of it: two lines, its seconds and its number of events.
extent() {
	"$top/build/bin/fkt_print" --summary "$@" "$trace" |
		awk '/^Duration/ && $3 == "s," { s = int($2) } /^Events/ { n = $2 } END { printf "%d\n%d\n", s, n }'
}

# need_trace: of 50-reading, or what FKT_BENCH_TRACE names: $trace.
need_trace() {
	trace=${FKT_BENCH_TRACE:-$kept/100M.trace}
	[ -s "$trace" ] || { note "$trace is not there: tests/bench/run reading makes it"; exit 1; }
}
