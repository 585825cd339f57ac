# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# The truth: the same workload seen by FKT and by ftrace at the same time gives the same system calls (with their results),
# page faults and process events in the same order for each of its threads, and the same switches (with the state in which
# the old thread left), wake-ups, interrupts and softirqs in the same order on each CPU. With a lane for each CPU, and with
# one that they share.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
ftrace_events='raw_syscalls/sys_enter raw_syscalls/sys_exit sched/sched_switch sched/sched_waking sched/sched_wakeup_new
	sched/sched_process_fork sched/sched_process_exec sched/sched_process_exit irq/irq_handler_entry
	irq/irq_handler_exit irq/softirq_entry irq/softirq_exit irq/softirq_raise exceptions/page_fault_user
	irq_vectors/local_timer_entry irq_vectors/local_timer_exit task/task_rename'

echo x86-tsc >$tracing/trace_clock || die 'ftrace does not take the clock x86-tsc'
echo 16384 >$tracing/buffer_size_kb
for event in $ftrace_events; do
	echo 1 >$tracing/events/$event/enable || die "ftrace has no $event"
done

compare() {
	local name=$1

	shift
	start_recorder -n -o "$name.fkt" -p 12 "$@"
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	workload exec-thread &
	main=$!
	wait $main
	check 'the workload ends well' [ $? = 0 ]
	# Its last switch is still to come when its parent, which may take the CPU from it, knows already.
	sleep 0.1
	echo 0 >$tracing/tracing_on
	stop_recorder INT
	check 'fkt_record ends well' [ "$status" = 0 ]
	check 'FKT lost nothing' [ "$(lost recorder.err)" = 0 ]
	check 'ftrace lost nothing' [ -z "$(grep -hE '^(overrun|commit overrun|dropped events): [^0]' $tracing/per_cpu/cpu*/stats)" ]

	fkt_print --no-summary --time=cycles "$name.fkt" >"$name.fkt.txt"
	check 'fkt_print reads it all' [ $? = 0 ]
	cat $tracing/trace >"$name.ftrace.txt"
	wc -l "$name.fkt.txt" "$name.ftrace.txt"
	check "FKT ($*) and ftrace saw the same" \
		perl "$TOP/tests/vm/truth.pl" $main "$(nproc)" "$name.fkt.txt" "$name.ftrace.txt"
}

echo 0 >$tracing/tracing_on
compare lanes
compare shared --lanes 1
same_by_all lanes.fkt

# Who turns ftrace on after this is not to have all that in its buffers.
for event in $ftrace_events; do
	echo 0 >$tracing/events/$event/enable
done
echo local >$tracing/trace_clock
