# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# Tracepoints: FKT and ftrace record the same ones at the same time, and see the same, with the same arguments; those of a
# module, which comes and goes; and what there is not.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
module=$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko
fire=/sys/module/fkt_event/parameters/fire

same='raw_syscalls:sys_enter raw_syscalls:sys_exit exceptions:page_fault_user irq_vectors:local_timer_entry
	irq:softirq_entry irq:irq_handler_entry power:cpu_idle signal:signal_generate jbd2:jbd2_handle_start
	ext4:ext4_sync_file_enter ext4:ext4_sync_file_exit'

work() {
	local i

	workload >/dev/null
	for i in 1 2 3 4 5; do
		echo $i >file
		sync file
		(kill -USR1 $BASHPID) 2>/dev/null
	done
}

echo 0 >$tracing/tracing_on
echo 16384 >$tracing/buffer_size_kb
options=()
for event in $same; do
	options+=(-e "$event")
	echo 1 >"$tracing/events/${event/://}/enable" || die "ftrace has no $event"
done
start_recorder -n -p 12 -o same "${options[@]}"
echo >$tracing/trace
echo 1 >$tracing/tracing_on
work
echo 0 >$tracing/tracing_on
stop_recorder
check 'fkt_record ends well' [ "$status" = 0 ]
check 'FKT lost nothing' [ "$(lost recorder.err)" = 0 ]
check 'ftrace lost nothing' [ -z "$(grep -hE '^(overrun|commit overrun|dropped events): [^0]' $tracing/per_cpu/cpu*/stats)" ]
echo 0 >$tracing/events/enable
fkt_print --no-summary --time=cycles same >same.txt
cat $tracing/trace >ftrace.txt
names=()
for event in $same; do
	names+=("${event#*:}")
done
check 'FKT and ftrace saw the same' perl "$TOP/tests/vm/same_events.pl" "$(compared_by)" same.txt ftrace.txt "${names[@]}"

# A glob is all that tracefs lists, less what is no tracepoint.
expect 0 fkt_record -e 'sched:sched_process_*' -o glob true
check 'there is an exec' grep -q 'sched:sched_process_exec' <(fkt_print --no-summary glob)
check 'nothing of other layers' [ -z "$(events glob | grep -vE ' (sched:|switch_to|wakeup|fork|exec|exit|release|rename)')" ]

# A module's: before, going, coming back.
fired() {
	events "$1" | grep -c 'fkt_event:fkt_event_fired'
}

insmod "$module" || die 'the module does not load'
start_recorder -n -o module -e 'fkt_event:*'
echo 3 >$fire
check 'a module can go while it is traced' rmmod fkt_event
check 'and come back' insmod "$module"
echo 2 >$fire
stop_recorder
check 'fkt_record ends well' [ "$status" = 0 ]
check 'all five times are there' [ "$(fired module)" = 5 ]
# Without BTF the registers are shown as they are.
check 'with their arguments' [ "$(events module | sed -n 's/.*fkt_event_fired  *a0=\([0-9]*\) a1=\([0-9]*\) .*/\1 \2/p' | xargs)" = \
	'0 200 1 201 2 202 0 200 1 201' ]
rmmod fkt_event

# One that comes later.
start_recorder -n -o later --later -e fkt_event:fkt_event_fired
insmod "$module"
echo 4 >$fire
check 'the module can go' rmmod fkt_event
stop_recorder
check 'four times after the module came' [ "$(fired later)" = 4 ]

# Who leaves is current while a switch is told, though the layer's own event of it says that another one comes.
expect 0 fkt_record -o switches -e 'sched:sched_switch prev->pid next->pid' sh -c 'for i in 1 2 3; do ls /usr | cat >/dev/null; done; sleep 0.1'
fkt_print --no-summary --time=cycles switches | perl -ne '
	next unless /^ *-?\d+ +\d+ +(\d+) .{16} [0-9a-f]{4,5}  sched:sched_switch .*?pid=(\d+)/;
	print and $wrong++ if $1 != $2;
	$n++;
	END { print "$n switches\n"; exit($wrong || !$n) }' >of_whom
check 'a switch is of who leaves' [ $? = 0 ]
head -3 of_whom

the_rest_takes_long

# Of two modules that have a tracepoint of one name, the second one is traced when the first goes.
twin=$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_twin.ko
fire_twin=/sys/module/fkt_twin/parameters/fire
insmod "$module" && insmod "$twin" || die 'the modules do not load'
start_recorder -n -o twins -e fkt_event:fkt_event_fired
echo 3 >$fire
echo 20 >$fire_twin
check 'the first one can go' rmmod fkt_event
echo 5 >$fire_twin
check 'and come back' insmod "$module"
echo 20 >$fire
check 'the second one can go' rmmod fkt_twin
echo 7 >$fire
stop_recorder
check 'one of them is traced at any time' [ "$(fired twins)" = 15 ]
rmmod fkt_event

# Modules that the kernel does not trust are silent.
check 'the module loads by force' insmod -f "$module"
for event in fkt_event:fkt_event_fired 'fkt_event:*' fkt_event_fired; do
	expect 1 fkt_record -o none -e "$event" true
	said 'module fkt_event silent.*F in /sys/module/fkt_event/taint'
	check 'no trace is left' [ ! -e none ]
done
rmmod fkt_event

# What there is not.
wrong() {
	expect 1 fkt_record -o none -e "$1" true
	said "$2"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}

wrong sched:sched_wakup 'is sched:sched_wakeup meant'
wrong sched_wakup 'is sched_wakeup meant'
wrong sched "is 'sched:\*' meant"
wrong 'nonsense:*' 'no tracepoint of this kernel matches'
wrong nonsense:at_all 'there is no such tracepoint'
wrong syscalls:sys_enter_openat '-k system --args'
wrong 'syscalls:*' '-k system --args'
wrong ftrace:function "ftrace's own"
wrong '' 'there is no such tracepoint'

# All there are.
expect 0 fkt_record -o all -p 12 -e '*:*' true
check 'there are many kinds' [ "$(events all | awk '{ print $3 }' | sort -u | wc -l)" -gt 30 ]
check 'the kernel is content' is_content
