#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an event with one field costs, and with one string of 20 bytes, in instructions: FKT's and its peers', in one boot of a
# guest that counts them. tests/bench/run says what is printed and how.
#
# The event is a tracepoint (kmem:kmem_cache_free, of which ftrace and perf record all fields, as they always do), a function's
# beginning, with its first argument, a number, or its second one, a string, or the function's beginning with one of these and
# its end (ftrace and perf: a kprobe and a kretprobe, and ftrace a function probe, "f:", where it has them).

set -u

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
parameters=/sys/module/events_loop/parameters
function=events_loop_named

# In the guest: what a round takes, of the tracepoint or of the function.
measure() {
	echo "$1" >$parameters/run && cat $parameters/run
}

# added WHAT WHO MEASURED UNTRACED
declare -A cost
added() {
	[ -n "$3" ] || { note "$2: nothing was measured"; return 1; }
	cost[$1 $2]=$(minus "$3" "$4")
	row "$1_$2" "${cost[$1 $2]}" instructions
}

# fkt WHAT LOOP UNTRACED OPTION…: and the trace has what was asked for.
fkt() {
	added "$1" fkt "$(fkt_record -o $disk/trace -p 12 "${@:4}" -- "$0" --measure "$2" 2>$disk/summary)" "$3" && tell_lost "$1" ||
		return 1
	row "$1_fkt" "$(fkt_print --no-summary $disk/trace | grep -c "${expected[$1]}")" events
}

# ftrace WHAT LOOP UNTRACED EVENTS [NAME]: EVENTS are names of one system, with commas between them.
ftrace() {
	local event

	for event in ${4//,/ }; do
		echo 1 >$tracing/events/$event/enable
	done
	added "$1" "${5-ftrace}" "$(measure "$2")" "$3"
	for event in ${4//,/ }; do
		echo 0 >$tracing/events/$event/enable
	done
}

# perf_record WHAT LOOP UNTRACED EVENTS: with buffers so large that perf itself seldom runs within the loop.
perf_record() {
	added "$1" perf "$(perf record -m 8192 -e "${4//\//:}" -o $disk/perf.data -- "$0" --measure "$2" 2>$disk/summary)" "$3"
	rm -f $disk/perf.data
}

# try_bpftrace WHAT LOOP UNTRACED PROGRAM
try_bpftrace() {
	if ! command -v bpftrace >/dev/null; then
		note 'bpftrace: left out, it is not installed (scripts/deps)'
		return
	fi
	BPFTRACE_PERF_RB_PAGES=1024 bpftrace -B full -e "$4" >$disk/bpftrace 2>$disk/summary &
	for _ in {1..300}; do
		grep -qs Attaching $disk/bpftrace && break
		sleep 0.2
	done
	# It says so before it has.
	sleep 1
	added "$1" bpftrace "$(measure "$2")" "$3"
	kill -INT $!
	wait $!
	row "$1_bpftrace" "$(grep -c "${printed[$1]}" $disk/bpftrace)" events
	rm -f $disk/bpftrace
}

# What FKT costs beside the cheapest of them.
compare() {
	local name others=()

	for name in "${!cost[@]}"; do
		case $name in *' fkt') ;; "$1 "*) others+=("${cost[$name]}") ;; esac
	done
	row "$1_fkt" "$(of_cheapest "${cost[$1 fkt]}" "${others[@]}")" of_cheapest
}

# peers WHAT LOOP UNTRACED EVENTS PROGRAM
peers() {
	with_ftrace ftrace "$1" "$2" "$3" "$4"
	perf_record "$1" "$2" "$3" "$4"
	try_bpftrace "$1" "$2" "$3" "$5"
	compare "$1"
}

declare -A expected=([field]=call_site= [string]='name="a name of 20 letters"'
	[probe_field]=number= [probe_string]='text="a name of 20 letters"'
	[function_field]=number= [function_string]='text="a name of 20 letters"')
declare -A printed=([field]='^[0-9a-f]' [string]='^a name of 20 letters$' [probe_field]='^[0-9]' [probe_string]='^a name of 20 letters$'
	[function_field]='^[0-9]' [function_string]='^a name of 20 letters$')

# function_peers WHAT UNTRACED FIELD FTRACE_FIELD PROGRAM
function_peers() {
	echo "p:bench/begin $function $3" >$tracing/kprobe_events
	echo "r:bench/end $function" >>$tracing/kprobe_events
	if echo "f:bench/fbegin $function $4" >>$tracing/dynamic_events && echo "f:bench/fend $function%return" >>$tracing/dynamic_events; then
		with_ftrace ftrace "$1" named "$2" bench/fbegin,bench/fend fprobe
	else
		note "$1: this kernel's ftrace has no function probes"
	fi 2>/dev/null
	peers "$1" named "$2" bench/begin,bench/end "$5 kretprobe:$function { }"
	echo >$tracing/dynamic_events
}

guest() {
	local tracepoint named

	load_events_loop "$1" || return 1
	tracepoint=$(measure tracepoint)
	named=$(measure named)

	fkt field tracepoint "$tracepoint" -e 'kmem:kmem_cache_free call_site' || return 1
	peers field tracepoint "$tracepoint" kmem/kmem_cache_free 'tracepoint:kmem:kmem_cache_free { printf("%lx\n", args->call_site); }'
	fkt string tracepoint "$tracepoint" -e 'kmem:kmem_cache_free name=s->name:string' || return 1
	peers string tracepoint "$tracepoint" kmem/kmem_cache_free \
		'tracepoint:kmem:kmem_cache_free { printf("%s\n", str(args->name)); }'

	fkt probe_field named "$named" -P "$function number=%di:s32" || return 1
	echo "p:bench/field $function number=%di:s32" >$tracing/kprobe_events
	peers probe_field named "$named" bench/field "kprobe:$function { printf(\"%d\n\", arg0); }"
	fkt probe_string named "$named" -P "$function text=+0(%si):string" || return 1
	echo "p:bench/string $function text=+0(%si):string" >>$tracing/kprobe_events
	peers probe_string named "$named" bench/string "kprobe:$function { printf(\"%s\n\", str(arg1)); }"

	fkt function_field named "$named" -F "$function number=\$arg1:s32" || return 1
	function_peers function_field "$named" number=%di:s32 'number=$arg1:s32' "kprobe:$function { printf(\"%d\n\", arg0); }"
	# Function probes of 6.12's ftrace leave the function hooked when they are turned off.
	named=$(measure named)
	fkt function_string named "$named" -F "$function text=+0(\$arg2):string" || return 1
	function_peers function_string "$named" 'text=+0(%si):string' 'text=+0($arg2):string' \
		"kprobe:$function { printf(\"%s\n\", str(arg1)); }"
}

main --timeout 900 -- "$@"
