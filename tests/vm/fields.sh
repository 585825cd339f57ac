# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 450 s
#
# The fields of events: what -e records by default has the values that ftrace records at the same time, and what is asked
# for is what BTF says.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
systems='block sched irq net skb tcp sock ext4 writeback kmem vmscan timer workqueue signal task jbd2 filemap oom compaction'

work() {
	workload >/dev/null
	dd if=/dev/zero of=file bs=64k count=16 conv=fsync
	echo 3 >/proc/sys/vm/drop_caches
	cat file >/dev/null
	(kill -USR1 $BASHPID)
	perl -MIO::Socket -e '
		my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;
		my $client = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $server->sockport) or die;
		my $other = $server->accept;
		for (1 .. 20) { syswrite $client, "x" x 1000; sysread $other, my $in, 1000 }
		alarm 1; $SIG{ALRM} = sub {}; select undef, undef, undef, 1.2'
	rm file
	sync
} 2>/dev/null

# Other tests may have left some. What is dropped from memory meanwhile is to be little.
echo 3 >/proc/sys/vm/drop_caches
echo 0 >$tracing/events/enable
echo 0 >$tracing/tracing_on
echo 16384 >$tracing/buffer_size_kb
options=()
for system in $systems; do
	[ -d $tracing/events/$system ] || continue
	options+=(-e "$system:*")
	echo 1 >"$tracing/events/$system/enable"
done
start_recorder -n -p 13 -o all "${options[@]}"
echo >$tracing/trace
echo 1 >$tracing/tracing_on
work
echo 0 >$tracing/tracing_on
stop_recorder
check 'fkt_record ends well' [ "$status" = 0 ]
check 'FKT lost nothing' [ "$(lost recorder.err)" = 0 ]
check 'ftrace lost nothing' [ -z "$(grep -hE '^(overrun|commit overrun|dropped events): [^0]' $tracing/per_cpu/cpu*/stats)" ]
echo 0 >$tracing/events/enable
fkt_print --no-summary --format json all >all.json
check 'FKT and ftrace recorded the same fields' perl "$TOP/tests/vm/fields.pl" "$(compared_by)" all.json

# A partition: what is asked of it is the whole disk's when it is issued, and the device is that whose sector it is.
if modprobe loop 2>/dev/null; then
	truncate -s 8M image
	printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\020\0\0' | dd of=image bs=1 seek=446 conv=notrunc 2>/dev/null
	printf '\125\252' | dd of=image bs=1 seek=510 conv=notrunc 2>/dev/null
	loop=$(losetup -fP --show image)
	part=${loop}p1
	[ -e "$part" ] || mknod "$part" b $(tr : ' ' <"/sys/block/${loop#/dev/}/${part#/dev/}/dev")
	whole=$(cat "/sys/block/${loop#/dev/}/dev")
	second=$(cat "/sys/block/${loop#/dev/}/${part#/dev/}/dev")
	expect 0 fkt_record -o part -e block:block_bio_queue -e block:block_bio_remap dd if="$part" of=/dev/null bs=4k count=1 iflag=direct
	fkt_print --no-summary part >part.txt
	check 'the device of a sector is the whole disk' grep -q "block_bio_queue .*dev=$whole sector=2048 " part.txt
	check 'a partition is what it comes from' grep -q "block_bio_remap .*dev=$whole sector=2048 .*old_dev=$second old_sector=0 " part.txt
	losetup -d "$loop"
fi

# Any event of any module can be recorded: no field ends the recording that nobody has asked for.
for module in kafs sunrpc scsi_mod mptcp rxrpc nfsd xfs kvm btrfs; do
	modprobe "$module" 2>/dev/null
done
expect 0 fkt_record -o everything -e '*:*' true

# What is asked for, beside ftrace's own fields, on the same events.
expect 0 fkt_record -o asked -e 'sched:sched_process_exec p->pid p->comm name=bprm->filename:string p->mm->map_count' \
	-e 'sched:sched_switch $arg*' -e 'signal:signal_generate sig task->signal->nr_threads' -e 'task:task_newtask $comm flags=clone_flags:x64' \
	sh -c 'true; kill -CONT $$'
fkt_print --no-summary asked >asked.txt
check 'fields that pointers lead to' grep -qE 'sched_process_exec +pid=([0-9]+) comm="sh" name="[^"]*/sh" map_count=[1-9]' asked.txt
check 'the thread that runs is the one of the field' grep -qE '"tid":([0-9]+),.*sched_process_exec.*"args":\{"pid":\1,' \
	<(fkt_print --no-summary --format json asked)
check 'arguments as they are' grep -qE 'sched_switch +preempt=[01] prev=0x[0-9a-f]{16} next=0x[0-9a-f]{16}' asked.txt
check 'a field behind two pointers' grep -qE 'signal_generate +sig=18 nr_threads=1$' asked.txt

# An enum has its names, which are those of its numbers; of others there is the number.
expect 0 fkt_record -o enums -e timer:hrtimer_start -e 'timer:hrtimer_cancel mode=hrtimer->is_soft:u8' -- sh -c "sleep 0.2; perl -e 'alarm 9; alarm 0'"
fkt_print --no-summary --format json enums | grep -o '"mode":[0-9]*\(,"mode_name":"[A-Z_]*"\)*' | sort -u >enums.said
cat enums.said
check 'there are relative timers' grep -qx '"mode":1,"mode_name":"HRTIMER_MODE_REL"' enums.said
check 'and absolute ones' grep -qE '^"mode":(0,"mode_name":"HRTIMER_MODE_ABS"|2,"mode_name":"HRTIMER_MODE_PINNED")$' enums.said
check 'a number of a type that is written has no name' grep -qE '^"mode":[01]$' enums.said
check 'none has a wrong one' not grep -vE '^"mode":([01]$|0,.*_ABS"|1,.*_REL"|2,.*_PINNED"|3,.*REL_PINNED"|[4-9]|1[0-9])' enums.said
check 'people see the name' grep -qE 'hrtimer_start .* mode=HRTIMER_MODE_REL' <(fkt_print --no-summary enums)
check 'sums by it have it, too' grep -q HRTIMER_MODE_REL <(fkt_print --by arg:mode --code timer:hrtimer_start enums)
# Arguments of functions, too.
expect 0 fkt_record -o enums --args -F hrtimer_start_range_ns -- sleep 0.2
check 'an argument of a function has the name' grep -qE 'hrtimer_start_range_ns .* mode=HRTIMER_MODE_[A-Z_]+$' <(fkt_print --no-summary enums)
refuse 'none has a number' grep -qE 'hrtimer_start_range_ns .* mode=[0-9]' <(fkt_print --no-summary enums)

# A pointer into nothing is 0, and a string there says so.
expect 0 fkt_record -o nothing -e 'sched:sched_process_exec a=+0(\0) b=+8(+0(\0)) c=+0(\4096):string d=+0x7fffffff(bprm):u8 e=+0(\0x8000000000000000):string' true
check 'nothing is there' grep -qE 'a=0x0 b=0x0 c="\(fault\)" d=[0-9]+ e="\(fault\)"' <(fkt_print --no-summary nothing)
# Nor where addresses end, or are nobody's; the page of vsyscall() is not the kernel's.
nowhere=(0xffffffffff600000 0xffffffffff5ffffc 0xffffffffff600ffc 0xfffffffffffffffc 0xffff800000000000 0xffff7fffffffffff)
for three in 0 3; do
	fetched=
	for n in 1 2 3; do
		address=${nowhere[three + n - 1]}
		fetched+=" a$n=+0(\\$address) b$n=+0(\\$address):u32 c$n=+0(\\$address):string"
	done
	expect 0 fkt_record -o nothing -e "sched:sched_process_exec$fetched" true
	fkt_print --no-summary nothing >nothing.txt
	for n in 1 2 3; do
		check "nothing is at ${nowhere[three + n - 1]}" grep -qE "a$n=0x0 b$n=0 c$n=\"\(fault\)\"" nothing.txt
	done
done

# The faults of what fetches are events as well, of which nothing is fetched: that would fault for ever.
expect 0 fkt_record -o faults -e 'exceptions:page_fault_kernel a=+0(\16) b=address' -P 'vfs_read c=+0(\16)' head /etc/hostname
check 'faults have what is asked for' grep -qE 'exceptions:page_fault_kernel +a=0x0 b=' <(fkt_print --no-summary faults)
check 'but those of what fetches' grep -qE 'exceptions:page_fault_kernel *$' <(fkt_print --no-summary faults)

# Nor has more than one of them, where there are many: each would take as many again. A word of a program's memory may take two,
# the second one of its first byte.
many=
for _ in {1..14}; do
	many+=' +0(\16)'
done
expect 0 fkt_record -o many -e "exceptions:page_fault_kernel$many" -e "raw_syscalls:sys_enter$many" calls 1000
fkt_print --no-summary many >many.txt
calls=$(grep -c ' raw_syscalls:sys_enter ' many.txt)
faults=$(grep -c ' exceptions:page_fault_kernel' many.txt)
check "$faults faults of $calls calls: 14 or 28 each, and as many again" \
	[ "$calls" -ge 1000 -a "$faults" -ge $((28 * calls)) -a "$faults" -le $((60 * calls)) ]

# An interrupt that comes to who fetches is no longer one, by the kernel's account, when at its end it looks whether the CPU is
# idle, or wakes the thread that has the softirqs: those have what is asked for.
fetching='sys_enter'
for _ in {1..4}; do
	fetching+=' @linux_banner:string'
done
expect 0 fkt_record -o ends -F 'idle_cpu comm=$comm' -e 'sched:sched_waking comm=$comm' -e "raw_syscalls:$fetching" calls -s 3
fkt_print --no-summary ends | grep -E ' (idle_cpu|sched:sched_waking)' | grep -v ' = ' >ends.txt
echo "$(grep -c comm= ends.txt) of $(wc -l <ends.txt) have what is asked for"
check 'interrupts came' [ "$(wc -l <ends.txt)" -gt 100 ]
refuse 'what comes at the end of an interrupt has it' grep -m 3 -v comm= ends.txt

check 'the kernel is content' is_content

the_rest_takes_long

# What is wrong is said in a sentence, and no trace is left.
wrong() {
	expect "$1" fkt_record -o none -e "$2" true
	said "$3"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}
wrong 1 'sched:sched_switch prev->pidd' 'struct task_struct has no field pidd; is pid meant'
wrong 1 'sched:sched_switch perv' 'sched_switch has no argument perv; is prev meant'
wrong 2 'sched:sched_switch %di' 'registers are there at addresses'
wrong 2 'sched:sched_switch $retval' 'a tracepoint has no \$retval'
wrong 2 'sched:sched_switch $stack0' "a tracepoint's stack is not fetched from"
wrong 2 'sched:sched_switch $arg5' 'sched_switch has 4 arguments'
wrong 2 'sched:sched_switch prev->comm:float' 'the types are'
wrong 2 'sched:sched_switch prev->pid:string' 'no string'
wrong 2 "sched:sched_switch $(printf 'prev->pid %.0s' {1..15})" 'room for 14'
wrong 1 'sched:sched_swich prev->pid' 'is sched:sched_switch meant'
expect 1 fkt_record -o none -e 'sched:sched_switch prev->pid' -e 'sched:sched_switch next->pid' true
said 'sched:sched_switch is already named with fields'
expect 1 fkt_record -o none -e sched:sched_switch -e 'sched:sched_switch nonsense->x' true
said 'has no argument nonsense'
expect 0 fkt_record -o asked -e 'sched:sched_s*' -e 'sched:sched_switch next->prio' true
check 'fields that are asked for go before a glob' grep -qE 'sched_switch +prio=[0-9]+$' <(fkt_print --no-summary asked)
expect 0 fkt_record -o asked -e 'vmscan:mm_shrink_slab_start $arg* $comm' true
wrong 1 'sched:* prev->pid' 'has no argument prev'
expect 1 fkt_record -o none --later -e 'not:there x' true
said 'of what comes later, nothing is known of its fields'
