# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The time that fkt_print finds, against what others find in the same run: each process's CPU time against the kernel's own
# (/proc/PID/schedstat), the parts in user mode and in the kernel against getrusage(), and how often and how long each
# system call was called against "strace -c -w". tests/host/cputime.sh starts a guest in which these are exact.

. "$TOP/tests/vm/lib.sh"

# Without CONFIG_IRQ_TIME_ACCOUNTING the kernel counts interrupts as time of the process that they interrupt, and in it as
# time in the kernel. What is nearer is taken, and the same for all.
cpu=$(sed 's/[^0-9].*//' /sys/devices/system/cpu/nohz_full)
# Where the kernel samples what is user mode, 250 times in a second, one process is off by three points at most times, and all
# ten by one.
share=2 together=1
[ -n "$cpu" ] || { cpu=0; share=16 together=5; }
# A kernel that watches over itself takes long back to user mode, interrupts off, and a tick that comes there is counted as user
# mode's; and it takes long from the scheduler's clock to the event. Of that one the sums alone are compared.
case $(uname -r) in
*-debug-*)	share=sums together= ;;
esac
# Timers of such a CPU expire on another one, which wakes up who sleeps, and reads the clock for it. The switch to it does not
# read the clock again (rq_clock_skip_update()); and what the emulated CPU waits until it is its turn, up to a tick, is then
# the next process's for the kernel, and still the last one's for the switches. A CPU's own timers interrupt it at once.
echo 0 >/proc/sys/kernel/timer_migration
expect 0 fkt_record -p 10 -o burn.trace sh -c "taskset -c $cpu burn 10 >burn.truth"
check 'nothing was lost' [ "$(lost)" = 0 ]
check 'there are ten processes' [ "$(wc -l <burn.truth)" = 10 ]
fkt_print -q --format json burn.trace >burn.json
check 'fkt_print reads it all' [ $? = 0 ]

# What of a timer's interrupt, and of the switch that it brings, is before the first event and behind the last, some 10 us with
# emulation, is user mode's for who knows events alone. Newer kernels end each slice of time by such an interrupt.
timers=$(fkt_print --cpu "$cpu" --by function --format json burn.trace |
	perl -ne 'print $1 if /"function":"local_timer"/ && /"count":(\d+)/')
[ -z "$together" ] || together=$(awk "BEGIN { share = 100 * $timers * 20e-6 / 10; print (share > $together ? share : $together) }")
echo "$timers interrupts of timers${together:+: how much is in user mode is known to $together points}"

cat >compare.pl <<'END'
use strict;
my (%is, $bad, @sum, $trace, $total, $rows);
$bad = 0;
open my $json, '<', 'burn.json' or die;
while (<$json>) {
	my %field = /"(\w+)":"?([^",}]*)"?/g;
	$is{$field{tid}} = { %field } if $field{table} eq 'processes';
	$trace = $field{duration_cycles} * $field{cpus} if $field{table} eq 'trace';
	$total = $field{on_cpu_cycles} if $field{table} eq 'processes_total';
	$rows += $field{own_cycles} if $field{table} eq 'rows';
}
my @truth = map { [split] } do { open my $file, '<', 'burn.truth' or die; <$file> };
my %off;
for my $with (0, 1) {
	$off{$with} += abs($is{$_->[0]}{user_ns} + $is{$_->[0]}{kernel_ns} + $with * $is{$_->[0]}{interrupts_ns} - $_->[1])
		for @truth;
}
my $with = $off{1} < $off{0} ? 1 : 0;
print "schedstat has interrupts ", $with ? "in" : "not in", " it\n";
for (@truth) {
	my ($pid, $ns, $user, $system) = @$_;
	my $f = $is{$pid} or die "fkt_print does not know process $pid\n";
	my $cpu = $f->{user_ns} + $f->{kernel_ns} + $with * $f->{interrupts_ns};
	my $time = 100 * ($cpu - $ns) / $ns;
	my $is = 100 * $f->{user_ns} / $cpu;
	my $share = $is - 100 * $user / ($user + $system);
	printf "%6d: %9.3f ms, schedstat %+.3f %%; %.2f %% of it in user mode, getrusage %+.2f\n", $pid, $cpu / 1e6, -$time,
		$is, -$share;
	$bad++ if $ARGV[0] ne 'sums' && (abs $time > 0.2 || abs $share > $ARGV[0]);
	$sum[0] += $ns;
	$sum[1] += $cpu;
	$sum[2] += $share / @truth;
}
my $time = 100 * ($sum[1] - $sum[0]) / $sum[0];
printf "together: schedstat %+.3f %%; getrusage %+.2f; %d of them are off\n", -$time, -$sum[2], $bad // 0;
print "all processes: $total, all rows: $rows, duration times CPUs: $trace cycles\n";
exit 1 if $total != $trace || $rows != $trace;
exit 0 if $ARGV[0] eq 'sums';
exit 1 if abs $time > 0.1 || abs $sum[2] > $ARGV[1];
exit($bad ? 1 : 0);
END
check 'CPU times are right within 0.2 %, parts as exactly as the kernel has them, sums exactly' perl compare.pl "$share" "$together"

# System calls, by strace and FKT in one run. strace counts time from the stop before a call to that after it, with two
# changes of process in it, so that short calls look longer than they are; calls that sleep take as long for both.
expect 0 fkt_record -p 10 -o calls.trace strace -c -w -f -o strace.out burn calls
check 'nothing was lost' [ "$(lost)" = 0 ]
awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4, $2 }' strace.out | sort >strace.calls
{
	fkt_print --process burn --by function --elapsed --format json calls.trace | perl -ne '
		my %f = /"(\w+)":"?([^",}]*)"?/g;
		print "$1 $f{count} ", $f{sum_ns} / 1e9, "\n" if $f{function} =~ /^sys_(.*)/'
	# The execve() that makes it burn began under another name: no call is all burn's, its return is.
	echo "execve $(fkt_print --no-summary --process burn --code 043b --format json calls.trace | grep -c .) 0"
} | sort >fkt.calls
join -a 1 -a 2 -e 0 -o 0,1.2,2.2,1.3,2.3 strace.calls fkt.calls
check 'strace and FKT count the same' diff <(cut -d' ' -f1,2 strace.calls) <(cut -d' ' -f1,2 fkt.calls)
check 'no call is longer for FKT than for strace' awk '{ if ($5 > $4 + 0.000002 * $2) exit 1 }' \
	<(join -o 0,1.2,2.2,1.3,2.3 strace.calls fkt.calls)
check 'calls that sleep take as long for both, within 10 %' awk '
	/nanosleep/ { found = 1; if ($5 < 0.9 * $4) exit 1 } END { exit !found }' <(join -o 0,1.2,2.2,1.3,2.3 strace.calls fkt.calls)
