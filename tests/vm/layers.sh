# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# Each kind of event of the System layer and of the process events, with what it should say.

. "$TOP/tests/vm/lib.sh"

# has WHAT PATTERN: an event of the listing, "CPU PID CODE NAME ARGUMENTS".
has() {
	check "$1" grep -qE -- "$2" events
}

# ---- exceptions

expect 0 fkt_record -o t traps
cp .out traps
cat traps
events t >events
grep " 1007 " events
declare -A number=([divide_error]=0 [debug]=1 [int3]=3 [invalid_op]=6)
while read -r name pid address; do
	has "$name" "^[0-9]+ $pid 1007 exception +${number[$name]} $name error=[0-9]+ ip=$address\$"
	check "$name once" [ "$(grep -cE "^[0-9]+ $pid 1007 " events)" = 1 ]
done <traps
check 'all were tried' [ "$(wc -l <traps)" = 4 ]
has 'a page fault of a user' '^[0-9]+ [0-9]+ 1005 page_fault_user +error=[0-9]+ address=0x[0-9a-f]+ ip=0x[0-9a-f]+$'
has 'a page fault of the kernel' '^[0-9]+ [0-9]+ 1006 page_fault_kernel +error=[0-9]+ address=0x[0-9a-f]+ ip=[a-z_0-9.]+\+0x[0-9a-f]+$'

# ---- interrupts

expect 0 fkt_record -o t sh -c "dd if=/dev/zero of=dd bs=64k count=20 oflag=direct status=none
	calls -t $(nproc) 20000; sleep 0.3"
events t >events
has 'the interrupt of the disk, by name' '^[0-9]+ [0-9]+ 1000 irq +[0-9]+ .*virtio'
has 'and its end' '^[0-9]+ [0-9]+ 1001 irq_exit +[0-9]+ .*virtio'
has 'the local timer' '^[0-9]+ [0-9]+ 1080 local_timer$'
has 'and its end' '^[0-9]+ [0-9]+ 10c0 local_timer_exit$'
has 'irq_work' '^[0-9]+ [0-9]+ 1084 irq_work$'
if [ "$(nproc)" -gt 1 ]; then
	has 'a call of a function on another CPU' '^[0-9]+ [0-9]+ 108[23] call_function(_single)?$'
fi
for what in '1002 softirq' '1003 softirq_exit' '1004 softirq_raise'; do
	has "$what" "^[0-9]+ [0-9]+ $what +1 TIMER$"
done
case $(uname -r) in
*-rt-*)	# It is no softirq there: each CPU has a thread for it.
	has 'RCU' '^[0-9]+ [0-9]+ 1100 switch_to .* ==> rcuc/[0-9]+\[' ;;
*)	has 'RCU' '^[0-9]+ [0-9]+ 1002 softirq +9 RCU$' ;;
esac
# They nest on their CPU: what ends is what began last.
perl -ne '
	next unless /^(\d+) \d+ ([0-9a-f]+) (\S+) *(.*)/;
	my ($cpu, $code, $what) = ($1, hex $2, "$3 $4");
	if ($code == 0x1000 || $code == 0x1002 || ($code >= 0x1080 && $code < 0x10c0)) {
		push @{$open[$cpu]}, $what;
		$n++;
	} elsif ($code == 0x1001 || $code == 0x1003 || ($code >= 0x10c0 && $code < 0x1100)) {
		$what =~ s/_exit\b//;
		next unless $open[$cpu];
		my $began = pop @{$open[$cpu]} // next;
		print "CPU $cpu: $began ends as $what\n" and $wrong++ if $began ne $what;
	}
	END { print "$n interrupts and softirqs\n"; exit($wrong || !$n) }' events >nesting
check 'they nest' [ $? = 0 ]
head -5 nesting

# ---- process events

cat >script <<'END'
echo "shell $$"
sh -c 'exit 3' &
echo "three $!"
wait $!
sh -c 'kill -9 $$' &
echo "killed $!"
wait $!
nice -n 10 sleep 0.2 &
echo "nice $!"
wait $!
sh -c 'printf "two words" >/proc/self/comm; cat /proc/self/comm' &
wait $!
sh -c 'kill -STOP $$; exit 0' &
echo "stopped $!"
sleep 0.5
kill -CONT $!
wait $!
calls -t 1 1000
strace -o /dev/null true
exit 0
END
expect 0 fkt_record -o t bash script
cp .out said
cat said
events t >events
pid() {
	sed -n "s/^$1 //p" said
}
shell=$(pid shell)
for who in three killed nice stopped; do
	has "fork of '$who'" "^[0-9]+ $shell 1103 fork +child=.*\[$(pid $who)\] tgid=$(pid $who) parent=.*\[$shell\] parent_tgid=$shell\$"
	has "it wakes up" "^[0-9]+ $shell 1102 wakeup_new +.*\[$(pid $who)\] prio=120 target_cpu=[0-9]+\$"
	has "release of '$who'" "^[0-9]+ [0-9]+ 1106 release +.*\[$(pid $who)\] tgid=$(pid $who)\$"
done
has 'exit 3' "^[0-9]+ $(pid three) 1105 exit +.*\[$(pid three)\] code=0x300\$"
has 'exit by SIGKILL' "^[0-9]+ $(pid killed) 1105 exit +.*\[$(pid killed)\] code=0x9\$"
has 'exec with the new name' "^[0-9]+ $(pid nice) 1104 exec +.*\[$(pid nice)\] old_pid=$(pid nice) sleep\$"
has 'wake-up with the priority' "^[0-9]+ [0-9]+ 1101 wakeup +sleep\[$(pid nice)\] prio=130 target_cpu=[0-9]+\$"
has 'rename with a space' '^[0-9]+ [0-9]+ 1107 rename +.*\[[0-9]+\] tgid=[0-9]+ two words$'
# Of a thread that is not the first of its process.
has 'fork of a thread' '^[0-9]+ ([0-9]+) 1103 fork +child=calls\[[0-9]+\] tgid=\1 parent=calls\[\1\] parent_tgid=\1$'
perl -ne '
	# Not what the kernel forks for itself meanwhile, as its workers.
	$forked{$1}++ if /1103 fork +child=.*?\[(\d+)\] tgid=\d+ .*parent_tgid=(?!2$)/;
	push @{$order{$1}}, "exit" if /1105 exit +.*\[(\d+)\] code/;
	push @{$order{$1}}, "release" if /1106 release +.*\[(\d+)\] tgid/;
	END { for (sort keys %forked) {
		my $is = join " ", @{$order{$_} // []};
		print "$_: $is\n" and $wrong++ if $is ne "exit release" && $is ne "exit";
	      }
	      exit($wrong || !%forked) }' events
check 'each thread that was forked exits, and is released after that' [ $? = 0 ]

# ---- the state in which a thread leaves

state() {
	has "leaves as $1: $2" "^[0-9]+ [0-9]+ 1100 switch_to +$3 $1 ==> "
}
state S 'asleep' "sleep\[$(pid nice)\]"
state T 'stopped' "sh\[$(pid stopped)\]"
state t 'traced' '(true|strace)\[[0-9]+\]'
# Any: whoever waits may be faster than its last switch, and then it is X already.
state Z 'dead, and somebody waits for it' '[^ ]+\[[0-9]+\]'
state X 'dead, and nobody waits' 'calls\[[0-9]+\]'
state I 'an idle kernel thread' '(kworker/.*|rcu_.*)\[[0-9]+\]'
state R 'the idle thread itself' 'idle'
expect 0 fkt_record -o t workload
events t >events
state D 'in vfork()' 'workload\[[0-9]+\]'

# ---- 32-bit system calls

expect 7 fkt_record -o t ia32
events t >events
check 'getppid three times' [ "$(grep -cE '^[0-9]+ [0-9]+ 0840 ia32_sys_getppid$' events)" = 3 ]
check 'and back' [ "$(grep -cE '^[0-9]+ [0-9]+ 0c40 ia32_sys_getppid +=' events)" = 3 ]
has 'write' '^[0-9]+ [0-9]+ 0804 ia32_sys_write$'
has 'its result' '^[0-9]+ [0-9]+ 0c04 ia32_sys_write += 3$'
has 'open fails' '^[0-9]+ [0-9]+ 0c05 ia32_sys_open += -14 EFAULT$'
has 'exit' '^[0-9]+ [0-9]+ 0801 ia32_sys_exit$'
expect 7 fkt_record --args -o t ia32
events t >events
has 'write with its arguments' '^[0-9]+ [0-9]+ 0804 ia32_sys_write +fd=1 buf=0x[0-9a-f]+ count=3$'
has 'exit with its argument' '^[0-9]+ [0-9]+ 0801 ia32_sys_exit +error_code=7$'
has 'getppid has none' '^[0-9]+ [0-9]+ 0840 ia32_sys_getppid$'
