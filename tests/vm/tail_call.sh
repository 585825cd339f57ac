# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Functions that end in a jump to another one, which somebody else hooks the return of: a kretprobe or function_graph then
# takes FKT's return address off the stack and keeps it elsewhere, and returns to it when the task wakes up, long after the
# recording. __x64_sys_read() ends in a jump to ksys_read(), and a task sleeps there in a read of a fifo: the recording stops,
# the module goes, and then a byte comes.

. "$TOP/tests/vm/lib.sh"

ko=/run/fkt-vm/fkt.ko
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

# begin_other WHAT FUNCTION; end_other WHAT
begin_other() {
	case $1 in
	kretprobe)
		echo "r:tail/returned $2" >$tracing/kprobe_events && echo 1 >$tracing/events/tail/enable ;;
	function_graph)
		echo "$2" >$tracing/set_ftrace_filter && echo function_graph >$tracing/current_tracer ;;
	esac
}

end_other() {
	case $1 in
	kretprobe)
		echo 0 >$tracing/events/tail/enable; echo >$tracing/kprobe_events ;;
	function_graph)
		echo nop >$tracing/current_tracer; echo >$tracing/set_ftrace_filter ;;
	esac
}

# A reader for each descriptor from 20 on, until the byte of its own comes; $readers has the processes.
begin_readers() {
	local i

	readers=()
	for i in 0 1 2; do
		rm -f "fifo$i"
		mkfifo "fifo$i"
		eval "exec $((20 + i))<>fifo$i"
		dd if="fifo$i" of="got$i" bs=16 count=1 2>/dev/null &
		readers+=($!)
		background+=($!)
	done
	wait_until 20 asleep
}

# In read(), system call 0.
asleep() {
	local pid

	for pid in "${readers[@]}"; do
		grep -q '^0 ' "/proc/$pid/syscall" && grep -q '^State:.S' "/proc/$pid/status" &&
			grep -q dd "/proc/$pid/comm" || return 1
	done
}

# end_readers WHAT
end_readers() {
	local i good=0

	for i in 0 1 2; do
		echo "byte $i" >&$((20 + i))
	done
	for i in 0 1 2; do
		wait "${readers[i]}" && [ "$(cat "got$i")" = "byte $i" ] && good=$((good + 1))
		eval "exec $((20 + i))>&-"
	done
	check "$1: all readers get their bytes" [ $good = 3 ]
}

# remove_module WHAT: not later than a second after the recording, and without it what it leaves on stacks may lead anywhere.
remove_module() {
	check "$1: nothing keeps the module" wait_until 20 rmmod fkt
}

# One module in the other one's place: what returns to an address of the old one gets into the new one.
insert_module() {
	insmod $ko || die "$1: the module does not come back"
}

# FKT's own kretprobe.
for traced in '__x64_sys_read ksys_read' 'ksys_read __x64_sys_read'; do
	read -r ours theirs <<<"$traced"
	what="FKT on $ours, FKT's kretprobe on $theirs"
	start_recorder -n -F "$ours" -P "r:$theirs" -o t
	begin_readers
	stop_recorder
	check "$what: the recording ends well" [ "$status" = 0 ]
	remove_module "$what"
	sleep 1
	end_readers "$what"
	insert_module "$what"
done

# Somebody else's, begun before FKT or after it, and gone before the task wakes up or still there.
for other in kretprobe function_graph; do
	for traced in '__x64_sys_read ksys_read' 'ksys_read __x64_sys_read'; do
		read -r ours theirs <<<"$traced"
		for order in 'before stays' 'after goes'; do
			read -r begins ends <<<"$order"
			what="FKT on $ours, $other on $theirs, begun $begins it, which $ends"
			[ $begins = after ] || begin_other $other "$theirs" || die "$what: cannot be begun"
			start_recorder -n -F "$ours" -o t
			[ $begins = before ] || begin_other $other "$theirs" || die "$what: cannot be begun"
			begin_readers
			stop_recorder
			check "$what: the recording ends well" [ "$status" = 0 ]
			[ $ends = stays ] || end_other $other
			remove_module "$what"
			[ $begins = after ] || insert_module "$what"
			end_readers "$what"
			[ $begins = before ] || insert_module "$what"
			[ $ends = goes ] || end_other $other
		done
	done
done
