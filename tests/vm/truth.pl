# SPDX-License-Identifier: GPL-2.0-only
#
# perl truth.pl PID CPUS FKT FTRACE: compare what fkt_print and the "trace" file of ftrace say that the process PID, and the
# CPUs in its time, did. PID lived while both traced, and was on each CPU.

use strict;
use warnings;

my ($main, $cpus, @files) = @ARGV;

# A recording is events: [CPU, PID, class, text], in order. The classes whose order is that of a CPU, else of a thread.
my %of_cpu = map { $_ => 1 } qw(switch waking irq softirq raise local_timer);

sub number
{
	my ($text) = @_;

	$text = hex($text) if $text =~ /^0x/;
	return sprintf "%x", $text;
}

sub read_fkt
{
	my ($file) = @_;
	my (@events, $lines);

	open my $in, '<', $file or die "$file: $!\n";
	while (<$in>) {
		next if $. <= 2;
		chomp;
		die "$file: $_\n" if /^\*\*\*/;
		/^ *(-?\d+) +(\d+) +(\d+|\?) .{16} ([0-9a-f]{4,5})  (\S+) *(.*)$/ or die "$file:$.: what is '$_'?\n";
		my ($since, $cpu, $pid, $code, $name, $args) = ($1, $2, $3, hex $4, $5, $6);
		my $add = sub { push @events, [$cpu, $pid, @_] };

		# Time does not run backwards.
		die "$file:$.: $since cycles\n" if $since < 0;
		# A thread's name may hold brackets; its number is what is in the last ones before the next field.
		my @tids = $args =~ /\[(\d+)\](?= |$)/g;
		if ($code < 0x400) {
			$add->('call', sprintf "enter %d", $code);
		} elsif ($code < 0x800) {
			$args =~ /^= (\S+)/ or die "$file:$.: no result in '$_'\n";
			$add->('call', sprintf "exit %d = %s", $code - 0x400, number($1));
		} elsif ($name eq 'switch_to') {
			$args =~ /^(?:idle|.*?\[(\d+)\]) (\S+) ==> (?:idle|.*\[(\d+)\])$/ or die "$file:$.: $_\n";
			$add->('switch', sprintf "%d %s ==> %d", $1 // 0, $2, $3 // 0);
		} elsif ($name eq 'wakeup') {
			$args =~ /\[(\d+)\] prio=(-?\d+) target_cpu=(\d+)$/ or die "$file:$.: $_\n";
			$add->('waking', "$1 $2 $3");
		} elsif ($name eq 'wakeup_new') {
			$args =~ /\[(\d+)\] prio=(-?\d+) target_cpu=(\d+)$/ or die "$file:$.: $_\n";
			$add->('process', "wakeup_new $1 $2 $3");
		} elsif ($name eq 'fork') {
			@tids == 2 or die "$file:$.: $_\n";
			$add->('process', "fork $tids[1] $tids[0]");
		} elsif ($name eq 'exec') {
			$args =~ /\[(\d+)\] old_pid=(\d+)/ or die "$file:$.: $_\n";
			$add->('process', "exec $1 $2");
		} elsif ($name eq 'exit') {
			$add->('process', "exit $tids[0]");
		} elsif ($name eq 'rename') {
			$args =~ /\[(\d+)\] tgid=\d+ (.*)$/ or die "$file:$.: $_\n";
			$add->('process', "rename $1 $2");
		} elsif ($name =~ /^irq(_exit)?$/) {
			$args =~ /^(\d+)/ or die "$file:$.: $_\n";
			$add->('irq', ($1 // '') . substr($name, 3));
		} elsif ($name =~ /^softirq(|_exit)$/) {
			$add->('softirq', ($1 ? 'exit ' : 'entry ') . (split ' ', $args)[0]);
		} elsif ($name eq 'softirq_raise') {
			$add->('raise', (split ' ', $args)[0]);
		} elsif ($name =~ /^local_timer(|_exit)$/) {
			$add->('local_timer', $1 ? 'exit' : 'entry');
		} elsif ($name eq 'page_fault_user') {
			$args =~ /error=(\d+) address=(\S+) ip=(\S+)/ or die "$file:$.: $_\n";
			$add->('fault', "$1 " . number($2) . ' ' . number($3));
		}
	}
	return \@events;
}

sub read_ftrace
{
	my ($file) = @_;
	my (@events, %entered);

	open my $in, '<', $file or die "$file: $!\n";
	while (<$in>) {
		next if /^#/;
		chomp;
		/^ *.{1,16}-(\d+) +\[(\d+)\] \S+ +\d+: (\w+): (.*)$/ or die "$file:$.: what is '$_'?\n";
		my ($pid, $cpu, $name, $args) = ($1, $2 + 0, $3, $4);
		my $add = sub { push @events, [$cpu, $pid, @_] };

		if ($name eq 'sys_enter') {
			$args =~ /^NR (-?\d+)/ or die "$file:$.: $_\n";
			$entered{$pid} = $1;
			$add->('call', 'enter ' . ($1 >= 0 && $1 < 1023 ? $1 : 1023));
		} elsif ($name eq 'sys_exit') {
			$args =~ /^NR (-?\d+) = (-?\d+)/ or die "$file:$.: $_\n";
			my ($nr, $ret) = ($1, $2);
			# rt_sigreturn() changes its own number.
			$nr = 15 if $nr == -1 && ($entered{$pid} // -1) == 15;
			$nr = 1023 if $nr < 0 || $nr > 1023;
			$add->("call", "exit $nr = " . number($ret));
		} elsif ($name eq 'sched_switch') {
			$args =~ /prev_pid=(\d+) prev_prio=\S+ prev_state=(\S+) ==> .*next_pid=(\d+)/ or die "$file:$.: $_\n";
			my ($prev, $state, $next) = ($1, $2, $3);
			# Preempted: FKT says as much as "runnable".
			$state = 'R' if $state eq 'R+';
			$add->('switch', "$prev $state ==> $next");
		} elsif ($name eq 'sched_waking') {
			$args =~ /pid=(\d+) prio=(-?\d+) target_cpu=(\d+)/ or die "$file:$.: $_\n";
			$add->('waking', "$1 $2 " . ($3 + 0));
		} elsif ($name eq 'sched_wakeup_new') {
			$args =~ /pid=(\d+) prio=(-?\d+) target_cpu=(\d+)/ or die "$file:$.: $_\n";
			$add->('process', "wakeup_new $1 $2 " . ($3 + 0));
		} elsif ($name eq 'sched_process_fork') {
			$args =~ / pid=(\d+) child_comm=.* child_pid=(\d+)$/ or die "$file:$.: $_\n";
			$add->('process', "fork $1 $2");
		} elsif ($name eq 'sched_process_exec') {
			$args =~ / pid=(\d+) old_pid=(\d+)/ or die "$file:$.: $_\n";
			$add->('process', "exec $1 $2");
		} elsif ($name eq 'sched_process_exit') {
			$args =~ / pid=(\d+)/ or die "$file:$.: $_\n";
			$add->('process', "exit $1");
		} elsif ($name eq 'task_rename') {
			$args =~ /pid=(\d+) oldcomm=.* newcomm=(.*) oom_score_adj=/ or die "$file:$.: $_\n";
			# fkt_print does not let a terminal see control characters.
			$add->('process', "rename $1 " . ($2 =~ s/[\x00-\x1f]/?/gr));
		} elsif ($name =~ /^irq_handler_(entry|exit)$/) {
			my $exit = $1 eq 'exit' ? '_exit' : '';
			$args =~ /^irq=(\d+)/ or die "$file:$.: $_\n";
			$add->('irq', "$1$exit");
		} elsif ($name =~ /^softirq_(entry|exit|raise)$/) {
			my $what = $1;
			$args =~ /^vec=(\d+)/ or die "$file:$.: $_\n";
			$add->($what eq 'raise' ? ('raise', $1) : ('softirq', "$what $1"));
		} elsif ($name =~ /^local_timer_(entry|exit)$/) {
			$add->('local_timer', $1);
		} elsif ($name eq 'page_fault_user') {
			$args =~ /address=(\S+) ip=(\S+) error_code=(\S+)/ or die "$file:$.: $_\n";
			my ($address, $ip, $error) = ($1, $2, $3);
			$add->("fault", join " ", hex $error, map { number(/^0x/ ? $_ : "0x$_") } $address, $ip);
		} else {
			die "$file:$.: an event '$name'\n";
		}
	}
	return \@events;
}

# The sequences to compare, by name: each a list of texts.
sub sequences
{
	my ($events) = @_;
	my %ours = ($main => 1);
	my (@first, @last, %of);

	# The threads that descend from $main, and the span of each CPU from its first switch to it to its last from it.
	for my $i (0 .. $#$events) {
		my ($cpu, $pid, $class, $text) = @{$events->[$i]};

		$ours{$2} = 1 if $class eq 'process' && $text =~ /^fork (\d+) (\d+)$/ && $ours{$1};
		next unless $class eq 'switch';
		$first[$cpu] //= $i if $text =~ / ==> $main$/;
		$last[$cpu] = $i if $text =~ /^$main /;
	}
	for my $cpu (0 .. $cpus - 1) {
		die "process $main was not on CPU $cpu\n" unless defined $first[$cpu] && defined $last[$cpu];
	}
	for my $i (0 .. $#$events) {
		my ($cpu, $pid, $class, $text) = @{$events->[$i]};

		if ($of_cpu{$class}) {
			push @{$of{"$class on CPU $cpu"}}, $text if $i >= $first[$cpu] && $i <= $last[$cpu];
		} elsif ($ours{$pid}) {
			push @{$of{"$class of thread $pid"}}, $text;
		}
	}
	return \%of;
}

my ($fkt, $ftrace) = (sequences(read_fkt($files[0])), sequences(read_ftrace($files[1])));
my (%total, $wrong);

for my $name (sort keys %{{%$fkt, %$ftrace}}) {
	my @a = @{$fkt->{$name} // []};
	my @b = @{$ftrace->{$name} // []};
	my $i = 0;

	$total{(split ' ', $name)[0]} += @a;
	$i++ while $i < @a && $i < @b && $a[$i] eq $b[$i];
	next if $i == @a && $i == @b;
	$wrong++;
	printf "%s: FKT has %d, ftrace %d; they differ from number %d on:\n", $name, scalar @a, scalar @b, $i;
	for my $k ($i - 3 .. $i + 5) {
		next if $k < 0;
		printf "\t%s %-40s %s\n", $k == $i ? '->' : '  ', $a[$k] // '-', $b[$k] // '-';
	}
}
print join(', ', map { "$_ $total{$_}" } sort keys %total), "\n";
for (qw(call switch waking process fault local_timer)) {
	next if $total{$_};
	print "nothing of '$_' was compared\n";
	$wrong++;
}
exit($wrong ? 1 : 0);
