#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# dat.pl CSV REPORT: what fkt_export --to trace.dat wrote, as "trace-cmd report -N -t" has it, against fkt_print's CSV: event
# for event, in the order of time, with CPU, thread, time since the first event, name, and all fields. Prints how many events
# there are, how many are dropped, and how many exits of interrupts are left out.

use strict;
use warnings;
use JSON::PP;

my ($csv_path, $report_path) = @ARGV;
my ($bad, $count, $dropped, $left_out, $first, @moment) = (0, 0, 0, 0);

my %names = (
	'1000' => 'irq_handler_entry', '1001' => 'irq_handler_exit', '1002' => 'softirq_entry', '1003' => 'softirq_exit',
	'1004' => 'softirq_raise', '1100' => 'sched_switch', '1101' => 'sched_waking', '1102' => 'sched_wakeup_new',
	'1103' => 'sched_process_fork', '1104' => 'sched_process_exec', '1105' => 'sched_process_exit',
	'1106' => 'sched_process_free', '1107' => 'task_rename');
# What ftrace has under another name, or not at all.
my %renamed = (
	sched_switch => { state => 'prev_state', prev => 'prev_pid', prev_name => 'prev_comm', next => 'next_pid', next_name => 'next_comm' },
	map({ $_ => { pid_name => 'comm', tgid => undef, code => undef } }
		qw(sched_waking sched_wakeup_new sched_process_exit sched_process_free)),
	sched_process_fork => { child => 'child_pid', child_name => 'child_comm', tgid => undef, parent => 'pid', parent_name => 'comm',
				parent_tgid => undef },
	sched_process_exec => { pid_name => undef, comm => 'filename' },
	task_rename => { pid_name => undef, tgid => undef, comm => 'newcomm' },
	irq_handler_entry => { irq_name => 'name' }, irq_handler_exit => { irq_name => undef },
	map({ $_ => { vec_name => undef } } qw(softirq_entry softirq_exit softirq_raise)),
	map({ $_ => { error => 'error_code' } } qw(page_fault_user page_fault_kernel)));

sub bad {
	print "FAILED: $_[0]\n" if $bad++ < 10;
}

open(my $csv, '<', $csv_path) or die "$csv_path: $!\n";
open(my $report, '<', $report_path) or die "$report_path: $!\n";

sub listed {
	while (defined(my $line = <$report>)) {
		chomp $line;
		next if $line =~ /^cpus=/;
		if ($line =~ /^CPU:\d+ \[(\d+) EVENTS DROPPED\]$/) {
			$dropped += $1;
			next;
		}
		$line =~ /^ *(.*)-(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): ([^ :]+): +(.*)$/ or bad("a line of trace-cmd's: $line"), next;
		return { pid => $2, cpu => $3 + 0, ns => $4 * 1000000000 + $5, name => $6, rest => $7, line => $line };
	}
	return undef;
}

# The next one of a CPU: of the same moment on several CPUs, readers have any order.
sub next_listed {
	my ($cpu) = @_;

	while (@moment < 2 || $moment[-1]{ns} == $moment[0]{ns}) {
		push @moment, listed() // last;
	}
	for (0 .. $#moment) {
		last if $moment[$_]{ns} != $moment[0]{ns};
		return splice(@moment, $_, 1) if $moment[$_]{cpu} == $cpu;
	}
	return shift @moment;
}

sub is_name {
	my ($event, $listed) = @_;
	my ($code, $name) = ($event->{code}, $listed->{name});

	return $name eq $names{$code} if $names{$code};
	if ($code =~ /^0[0-9a-f]{3}$/) {
		my $number = hex $code;
		return $name eq ($number & 0x800 ? 'compat_' : '') . 'sys_' . ($number & 0x400 ? 'exit_' : 'enter_') .
				($event->{syscall} || ($number & 0x3ff));
	}
	return $name eq ($event->{name} =~ s/^x86_platform_ipi/ipi/r) . '_entry' || $name eq $event->{name} if $code =~ /^10[89ab]/;
	return $name eq ($event->{name} =~ s/^x86_platform_ipi/ipi/r) || $name eq $event->{name} if $code =~ /^10[c-f]/;
	return 1 if $name =~ /^fkt_function_(entry|exit)$/ && " $listed->{rest} " =~ / name=\Q$event->{name}\E /;
	return 1 if ($name =~ s/_(?:entry|exit)$//r) eq $event->{name} =~ s/^[^:]*://r;
	return $name eq $event->{name} =~ s/^[^:]*://r || $name eq $event->{name} =~ s/[^A-Za-z0-9_]/_/gr;
}

sub has_field {
	my ($event, $listed, $key) = @_;
	my $value = $event->{args}{$key};
	my $name = $listed->{name};
	my $to = exists $renamed{$name}{$key} ? $renamed{$name}{$key} : $key =~ s/[^A-Za-z0-9_]/_/gr;

	return 1 if !defined $to || $key eq 'ret_name' || ref $value;
	no warnings 'portable';
	$value = $1 if $name eq 'sched_switch' && $key eq 'state' && $value =~ /^(?:R.*|.*(.))$/;
	$value = 'R' if !defined $value;
	$value = $value eq 'idle' ? "swapper/$event->{cpu}" : substr $value, 0, 15 if $to =~ /comm$/;
	if ($name =~ /sys_exit_/) {
		$value = sprintf '0x%x', $value =~ /^0x/ ? hex $value : $value;
		return $listed->{rest} eq $value;
	}
	if ($name =~ /sys_enter_/) {
		$value = sprintf '0x%08x', $value =~ /^0x/ ? hex $value : $value;
		return ", $listed->{rest}," =~ /, \Q$to: $value\E,/;
	}
	$value = sprintf '%03d', $value if $to eq 'target_cpu';
	return index(" $listed->{rest} ", " $to=$value ") >= 0 ||
	       ($value =~ /^\d+$/ && index(" $listed->{rest} ", sprintf(' %s=0x%x ', $to, $value)) >= 0);
}

<$csv>;
while (my $line = <$csv>) {
	my %event;

	chomp $line;
	@event{qw(stamp ns cpu tid process code name syscall args)} = split /,/, $line, 9;
	next if $event{code} eq '1203';
	$event{args} =~ s/^"(.*)"$/$1/;
	$event{args} = decode_json($event{args} =~ s/""/"/gr);

	my $listed = next_listed($event{cpu});
	if ($event{code} eq '1001' && (!$listed || $listed->{name} ne 'irq_handler_exit' || $listed->{cpu} != $event{cpu})) {
		$left_out++;
		unshift @moment, $listed if $listed;
		next;
	}
	$listed or bad("no more events: $line"), last;
	$first //= $listed->{ns} - $event{ns};
	is_name(\%event, $listed) or bad("another event:\n$line\n$listed->{line}"), last;
	abs($listed->{ns} - $first - $event{ns}) <= 1 or bad("at another time:\n$line\n$listed->{line}");
	$listed->{cpu} == $event{cpu} or bad("on another CPU:\n$line\n$listed->{line}");
	$listed->{pid} == ($event{tid} eq '' ? -1 : $event{tid}) or bad("another thread:\n$line\n$listed->{line}");
	has_field(\%event, $listed, $_) or bad("not the same $_:\n$line\n$listed->{line}") for sort keys %{$event{args}};
	$count++;
}
bad('more events') if next_listed(0) && !$bad;
print "events $count\ndropped $dropped\nleft_out $left_out\n";
exit !!$bad;
