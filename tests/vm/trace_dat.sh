# SPDX-License-Identifier: GPL-2.0-only
#
# ftrace and FKT record a thread at the same time: of the trace.dat that fkt_export writes, trace-cmd report has the same lines
# as of ftrace's own, in the same order.

. "$TOP/tests/vm/lib.sh"

command -v trace-cmd >/dev/null || skip 'there is no trace-cmd'

# shellcheck disable=SC2016
load='echo $$ >pid; exec dd if=/dev/zero of=file bs=4k count=20 conv=fsync 2>/dev/null'
run trace-cmd record -q -b 20000 -o ftrace.dat -e syscalls -e sched:sched_switch -e sched:sched_waking -e irq \
	-e exceptions:page_fault_user fkt_record --args -o trace sh -c "$load"
check 'both record' [ -s ftrace.dat -a -s trace -a -s pid ]
run fkt_export --to trace.dat -o fkt.dat trace
check 'the trace is exported' [ "$status" = 0 ]

# numbers: of newer kernels, which have what an address leads to behind it, the address alone; where trace-cmd cannot read
# that, it has fields and values. The flags of openat(), which they have by name, are not compared there.
numbers() {
	NAMES=$(grep -c O_CREAT /sys/kernel/tracing/events/syscalls/sys_enter_openat/format) perl -pe '
		next unless / sys_enter_/;
		s/(: 0x[0-9a-f]+) ("[^"]*"|\([^)]*\))/$1/g;
		s/( sys_enter_openat .*), flags: .*/$1/ if $ENV{NAMES};
		s{\[FAILED TO PARSE\] __syscall_nr=\d+ (.*?) \w+_val=.*}
			{$1 =~ s/ ?(\w+)=(\w+)/", $1: " . sprintf("0x%08x", substr($2, 0, 2) eq "0x" ? hex $2 : $2)/ger =~ s/^, //r}e'
}

# lines FILE: of the thread from its first execve() on, without the time. ftrace has a thread's own name where FKT has that of
# /proc, and the register where FKT has an int; FKT does not tell what an interrupt's handler said, nor that a thread was
# preempted. A long time, as of the clock that other tests leave, stands right behind the CPU.
lines() {
	trace-cmd report -N "$1" 2>/dev/null | sed -nE "s/^ *.*-$(cat pid) +\[([0-9]+)\] *[0-9.]+: +([^ ]+): +(.*)$/\1 \2 \3/p" |
		grep -E '^[0-9]+ (sys_|sched_switch |sched_waking |irq_handler_|softirq_|page_fault_user )' |
		sed -E 's/prev_state=R\+/prev_state=R/; s/ ret=(un)?handled//; s/(comm=kworker\/[^ :+-]*:?[0-9]*)[^ ]*/\1/g
			/ sys_enter_/s/0xf{8}([0-9a-f]{8})\b/0x\1/g; s/(prev|next)_prio=[0-9]+//g' |
		sed -n '/ sys_enter_execve /,$p' | numbers
}

lines ftrace.dat >ftrace
lines fkt.dat >fkt
# A PREEMPT_RT kernel has a thread for softirqs, and this one raises them.
softirq=softirq_entry
[[ $(uname -r) != *-rt-* ]] || softirq=softirq_raise
for kind in sys_enter_write sys_exit_write sched_switch sched_waking $softirq page_fault_user; do
	check "there are lines of $kind" grep -q " $kind " ftrace
done
# An interrupt may come between the one's probe and the other's: so each kind by itself.
for kind in 'sys_\|page_fault_user\|sched_switch' 'irq_handler_\|softirq_' sched_waking; do
	diff <(grep -- "^[0-9]* \($kind\)" ftrace) <(grep -- "^[0-9]* \($kind\)" fkt) >differences
	check "its $(grep -c -- "^[0-9]* \($kind\)" ftrace) lines of $kind are the same" [ ! -s differences ]
	head -10 differences
done
