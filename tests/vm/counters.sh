# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Counters of the kernel: what they come to for calls of which it is known, and against what the kernel counts itself; of
# functions and of programs' functions; a CPU that goes and comes; what there is not.

. "$TOP/tests/vm/lib.sh"

# column NAME: of a table in CSV, a line for each row: its name and that column.
column() {
	perl -F, -lane 'BEGIN { $wanted = shift } if (/^(function|name),/) { ($at) = grep { $F[$_] eq $wanted } 0 .. $#F; next }
		print "$F[0] $F[$at]" if defined $at && @F > $at' "$1"
}

dmesg -c >/dev/null

echo '--- calls that fault so many pages in, and leave the CPU so often'
expect 0 fkt_record --counters page-faults,context-switches,minor-faults,task-clock -o t fault_calls
cp .out truth
check 'nothing was lost' [ "$(lost)" = 0 ]
fkt_print --by function,process --format csv --process fault_calls t >by
fkt_print -q --format csv --process fault_calls t >rows
checked=0
while read -r name counter calls count; do
	checked=$((checked + 1))
	case $name in
	# The program touches some pages more, when it begins.
	user)	check "$name: $counter" between "$count" "$(column "$counter" <rows | sed -n 's/^user //p')" $((count + 400)) ;;
	sys_read)
		# The loader has read files before.
		check "$name: $counter" between 0 "$(column "$counter" <by | sed -n "s/^$name //p")" 2 ;;
	# It may have to go for another one as well.
	*_nanosleep) check "$name: $counter" between "$count" "$(column "$counter" <by | sed -n "s/^$name //p")" $((count + 10)) ;;
	*)	check "$name: $counter" [ "$(column "$counter" <by | sed -n "s/^$name //p")" = "$count" ]
		check "$name: calls" between "$calls" "$(column count <by | sed -n "s/^$name //p")" $((calls + 2)) ;;
	esac
done <truth
check 'there were five of them' [ $checked = 5 ]
check 'minor faults are the faults' [ "$(column minor_faults <by | sed -n 's/^sys_pread64 //p')" = 160 ]

echo '--- a clock counts what the call took'
ns=$(column task_clock_ns <by | sed -n 's/^sys_pread64 //p')
took=$(column sum_ns <by | sed -n 's/^sys_pread64 //p')
check 'nearly' between $((took * 9 / 10)) "$ns" $((took * 11 / 10 + 200000))
all=$(fkt_print -q --format csv t | column task_clock_ns | sed -n 's/^Total elapsed time //p')
took=$(fkt_print -q --format csv t | column own_ns | sed -n 's/^Total elapsed time //p')
check 'all together' between $((took * 8 / 10)) "$all" $((took * 101 / 100))
check 'only and called are the sum' perl -F, -lane '
	$own += $F[-1], next if /^sys_pread64,sys_pread64 ONLY/; $sum += $F[-1] if /^sys_pread64,sys_pread64,/;
	END { exit !($sum && $own == $sum) }' <(fkt_print --calls=sys_pread64 --format csv t)

echo '--- against what the kernel counts of all CPUs: every switch is in a row'
switches=$(fkt_print --no-summary t | grep -c ' switch_to ')
counted=$(fkt_print -q --format csv t | column context_switches | sed -n 's/^Total elapsed time //p')
# The first and the last reading of each CPU are somewhere between its first and its last switch.
check 'switches' between $((switches - 4)) "$counted" "$switches"

echo '--- against perf'
if perf stat -x, -o stat -e page-faults true; then
	expect 0 fkt_record --counters page-faults,minor-faults -o t -- \
		perf stat -x, -o stat -e page-faults,minor-faults,page-faults:u fault_calls
	fkt_print -q --format csv --process fault_calls t >rows
	for counter in page-faults minor-faults; do
		wanted=$(sed -n "s/^\([0-9]*\),,$counter,.*/\1/p" stat)
		check "$counter: as many" [ "$(column ${counter/-/_} <rows | sed -n 's/^Total elapsed time //p')" = "$wanted" ]
	done
	wanted=$(sed -n "s/^\([0-9]*\),,page-faults:u,.*/\1/p" stat)
	check 'in user mode' [ "$(column page_faults <rows | sed -n 's/^user //p')" = "$wanted" ]
fi

echo '--- functions, in and out, and interrupts apart'
expect 0 fkt_record -k system,functions -F 'handle_mm_fault' -F 'vfs_read' --counters page-faults,cpu-clock -o t fault_calls
fkt_print --calls=sys_pread64 --format csv t >calls
check 'whole' [ "$(perl -F, -lane 'print $F[-2] if $F[1] eq "sys_pread64"' calls)" = 160 ]
check 'in what it calls' [ "$(perl -F, -lane 'print $F[-2] if $F[1] eq "vfs_read"' calls)" = 160 ]
check 'and none its own' [ "$(perl -F, -lane 'print $F[-2] if $F[1] eq "sys_pread64 ONLY"' calls)" = 0 ]
check 'functions have their time' [ "$(fkt_print --by function --format csv t | column cpu_clock_ns | sed -n 's/^handle_mm_fault //p')" -gt 1000 ]
expect 0 fkt_record -p 12 -F '*clock*' -F '*perf*' --counters cpu-clock,page-faults -o t true
fkt_print --by function --format csv t >by
check 'functions of clocks and counters' [ "$(wc -l <by)" -gt 10 ]
refuse 'but what reads the counters' grep -qE '^(cpu_clock_event_.*|local_clock),' by

the_rest_takes_long

echo '--- functions of programs'
expect 0 fkt_record -k system,user -U libc.so.6:getppid -U libc.so.6:nanosleep --counters context-switches -o t fault_calls
left=$(sed -n 's/^sys_clock_nanosleep .* //p' .out)
check 'naps' between 20 "$left" 25
check 'with the calls in them' between "$left" \
	"$(fkt_print --by function --format csv t | column context_switches | sed -n 's/^libc.so.6:nanosleep //p')" $((left + 10))

echo '--- one lane, a ring, a filter, a pipe'
expect 0 fkt_record --lanes 1 --counters page-faults -o t fault_calls
check 'one lane' [ "$(fkt_print --by function,process --format csv --process fault_calls t | column page_faults | sed -n 's/^sys_pread64 //p')" = 160 ]
expect 0 fkt_record --ring 4M --counters page-faults -o t fault_calls
check 'a ring' [ "$(fkt_print --from 0 --by function,process --format csv --process fault_calls t | column page_faults | sed -n 's/^sys_pread64 //p')" = 160 ]
fkt_record --counters page-faults -o - fault_calls 2>.err | fkt_print --by function,process --format csv --process fault_calls - >by 2>.err2
check 'a stream' [ "$(column page_faults <by | sed -n 's/^sys_pread64 //p')" = 160 ]

echo '--- a CPU that goes and comes'
if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	start_recorder -n --counters page-faults,cpu-clock -o t
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
	taskset -c 1 fault_calls >/dev/null
	taskset -c 0 fault_calls >/dev/null
	stop_recorder
	check 'it ends well' [ "$status" = 0 ]
	check 'it says so' grep -q 'events without all of their counters' recorder.err
	check 'the other one counts' [ "$(fkt_print --by function,cpu --format csv --process fault_calls --cpu 0 t | column page_faults | sed -n 's/^sys_pread64 //p')" -ge 160 ]
	check 'what does not count is said' grep -q 'counters  *missing=0x3' <(fkt_print --no-summary --cpu 1 t)
	check 'without a warning' is_content
fi

echo '--- recordings end, and the module goes'
for i in {1..5}; do
	fkt_record --counters page-faults,cpu-clock,context-switches,task-clock -o t -- true 2>.err || fail "round $i: $(cat .err)"
	rmmod fkt || fail "round $i: rmmod"
	insmod /run/fkt-vm/fkt.ko || fail "round $i: insmod"
done
check 'without a warning' is_content

echo '--- none, too many, and what this machine does not have'
if [ ! -e /sys/bus/event_source/devices/cpu ]; then
	expect 0 fkt_record --counters instructions -o t -- true
	said '^fkt_record: --counters=instructions is left out: this machine has no such counter'
	refuse 'no counters' grep -q ' counters ' <(fkt_print --no-summary t)
	expect 0 fkt_record --counters instructions,page-faults,cycles -o t -- true
	said '^fkt_record: --counters=cycles is left out: this machine has no such counter'
	check 'the other one counts' grep -q ' counters  *missing=0x0 page_faults=[1-9]' <(fkt_print --no-summary t)
fi
expect 2 fkt_record --counters page-fault -- true
said "^fkt_record: --counters: 'page-fault' is no counter; did you mean 'page-faults'"
expect 2 fkt_record --counters '' -- true
expect 2 fkt_record --counters page-faults,page-faults -- true
said 'is there twice'
expect 2 fkt_record --counters page-faults,minor-faults,major-faults,cpu-clock,task-clock -- true
said 'no more than 4'
expect 1 fkt_record --counters page-faults --longer-than 1ms -o t -- true
said 'do not go together'
expect 0 fkt_record -o t -- true
refuse 'no counters, no readings' grep -q ' counters ' <(fkt_print --no-summary t)
