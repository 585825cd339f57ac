# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests that run in a guest share. tests/vm/guest starts each in an empty directory of its own on /mnt/disk
# (ext4), with the tools and the programs of tests/vm in the PATH, and TOP, the checkout.
#
# A test fails when one of its checks does, when it ends with a status that is not 0, and when it has checked nothing.

set -uo pipefail

failures=0
checks=0
out=
err=
background=()

at_exit() {
	local status=$? pid

	for pid in "${background[@]}"; do
		kill -9 "$pid" 2>/dev/null
	done
	[ $status != 77 ] || exit 77
	[ $checks != 0 ] || fail 'nothing was checked'
	[ $failures = 0 ] || status=1
	exit $status
}
trap at_exit EXIT

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# skip REASON: this test can't be run here.
skip() {
	echo "skipped: $*"
	exit 77
}

die() {
	fail "$*"
	exit 1
}

# the_rest_takes_long: the test ends here, but with --kernels of tests/run, or when it was asked for by its name.
the_rest_takes_long() {
	[ -n "${FKT_WHOLE-yes}" ] || { echo 'in part: what takes long was left out'; exit 0; }
}

# By what FKT's events are compared with another tracer's, CPU or thread: from 6.13 on a thread can be preempted, and come to
# another CPU, between the probes of a tracepoint.
compared_by() {
	[ "$(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -1)" = 6.13 ] && echo thread || echo CPU
}

# The field of a dentry with the name of a short file: from 6.14 on in a union.
short_name() {
	grep -qF d_shortname /sys/kernel/btf/vmlinux && echo d_shortname.string || echo d_iname
}

# check WHAT COMMAND…: what holds when COMMAND succeeds.
check() {
	local what=$1

	shift
	checks=$((checks + 1))
	if "$@"; then
		echo "ok: $what"
	else
		fail "$what: $*"
	fi
}

# refuse WHAT COMMAND…: what holds when COMMAND fails.
refuse() {
	local what=$1

	shift
	check "$what" not "$@"
}

not() {
	! "$@"
}

# run COMMAND…: leaves its output in $out, what it says on stderr in $err and its exit status in $status.
run() {
	local lines

	echo "+ $*"
	"$@" >.out 2>.err
	status=$?
	# Without a program, and without what bash says of a 0 among it.
	{ out=$(<.out) err=$(<.err); } 2>/dev/null
	[ -z "$err" ] || { mapfile -t -n 20 lines <.err && printf '  stderr: %s\n' "${lines[@]}"; }
}

# expect STATUS COMMAND…: run, and check the exit status.
expect() {
	local wanted=$1

	shift
	run "$@"
	check "exit status $wanted of: $*" [ "$status" = "$wanted" ]
}

# said PATTERN: whether the last command's stderr has the extended regular expression.
said() {
	check "it says '$1'" grep -qE -- "$1" .err
}

# one_sentence: the last command's stderr is a single line.
one_sentence() {
	check "it says one sentence" [ "$(wc -l <.err)" = 1 ]
}

# between LOW VALUE HIGH
between() {
	[ -n "$2" ] && [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

# wait_until SECONDS COMMAND…: wait until COMMAND succeeds; on a kernel that is slow, for longer.
wait_until() {
	local end=$((SECONDS + $1 * ${FKT_SLOW-1}))

	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# Whether the kernel's log has no complaint.
is_content() {
	! dmesg | "$TOP/scripts/guest/complaints" | grep .
}

# Nothing records, and nothing holds the module.
idle() {
	[ "$(cat /sys/module/fkt/refcnt)" = 0 ]
}

recording() {
	fkt_enable system 2>/dev/null
}

# start_recorder ARGUMENT…: fkt_record in the background, its process in $recorder; returns when it records. What it says
# is in recorder.err.
start_recorder() {
	echo "+ fkt_record $* &"
	fkt_record "$@" 2>recorder.err &
	recorder=$!
	background+=("$recorder")
	wait_until 30 recording && return
	cat recorder.err
	die "fkt_record $* does not begin to record"
}

# stop_recorder [SIGNAL]: its exit status is in $status.
stop_recorder() {
	kill "-${1-INT}" "$recorder"
	wait "$recorder"
	status=$?
	sed 's/^/  recorder: /' recorder.err
}

# list_events FILE: the listing, in a form that is easy to search: "CPU PID CODE NAME ARGUMENTS"; what is missing as "*** …".
list_events() {
	fkt_print --no-summary --time=cycles "$1" | LC_ALL=C awk '
		/^\*\*\*/ { print; next }
		match($0, /^ *-?[0-9]+ +[0-9]+ +([0-9]+|\?) /) {
			# The name of the process is 16 wide, and may be anything.
			event = substr($0, RLENGTH + 18)
			gap = index(event, "  ")
			code = substr(event, 1, gap - 1)
			if (code ~ /^[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]?$/)
				print $2, $3, code, substr(event, gap + 2)
		}'
}

# events FILE: the same; a file is read once. Two may ask at the same time.
events() {
	local kept=.events.${1//\//_}

	if [ ! -f "$1" ]; then
		list_events "$1"
	elif [ "$kept" -nt "$1" ]; then
		cat "$kept"
	else
		list_events "$1" >"$kept.$BASHPID" || { cat "$kept.$BASHPID"; rm "$kept.$BASHPID"; return 1; }
		mv "$kept.$BASHPID" "$kept"
		cat "$kept"
	fi
}

# count FILE CODE…: how many events of these codes there are.
count() {
	events "$1" | awk -v codes="${*:2}" '
		BEGIN { for (n = split(codes, code, " "); n; n--) want[code[n]] }
		$3 in want { n++ }
		END { print n + 0 }'
}

# summary FILE LABEL: what fkt_print -q says there.
summary() {
	fkt_print -q "$1" | sed -n "s/^$2  *//p" | head -1
}

# same_by_all FILE: several threads list and sum up a trace as one does that looks at each event.
same_by_all() {
	check "$1: one thread and three list the same" \
		cmp <(fkt_print --no-summary --threads=1 "$1") <(fkt_print --no-summary --threads=3 "$1")
	fkt_print -q --threads=3 "$1" >.summary
	check "$1: one thread and three sum up the same" cmp .summary <(fkt_print -q --cpus "$1" | sed -n '/^\(Command\|Machine\) /,$p')
	check "$1: there is a summary" grep -q '^Total elapsed time' .summary
}

# A field of the summary of fkt_record, in the file FROM: events, lost …
recorded() {
	sed -nE 's/.*: ([0-9]+) events, [0-9]+ pages .* [0-9]+ lost.*/\1/p' "${1-.err}"
}

lost() {
	sed -nE 's/.*: [0-9]+ events, [0-9]+ pages .*, ([0-9]+) lost.*/\1/p' "${1-.err}"
}

# A bit of the mask that no layer has, as the header's table of layers says.
free_key() {
	perl -ne '$used{$1} = 1 if /^\tX\(\w+, (\d+), "\w+", "/;
		END { for (0 .. 31) { next if $used{$_}; printf "%#x\n", 1 << $_; last } }' "$TOP/include/fkt/codes.h"
}

# same_as_kprobe_events OPTION…: fkt_record with these and ftrace's kprobe events, which are defined, see the same of what
# workload does; their names are in $names. Leaves same.txt and ftrace.txt.
same_as_kprobe_events() {
	local tracing=/sys/kernel/tracing

	start_recorder -n -p 12 -o same "$@"
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	echo 1 >$tracing/events/kprobes/enable
	workload >/dev/null
	cat /no/such/file 2>/dev/null
	echo 0 >$tracing/events/kprobes/enable
	echo 0 >$tracing/tracing_on
	stop_recorder
	check 'fkt_record ends well' [ "$status" = 0 ]
	check 'FKT lost nothing' [ "$(lost recorder.err)" = 0 ]
	fkt_print --no-summary --time=cycles same >same.txt
	cat $tracing/trace >ftrace.txt
	check 'FKT and ftrace saw the same' perl "$TOP/tests/vm/same_events.pl" "$(compared_by)" same.txt ftrace.txt "${names[@]}"
}
