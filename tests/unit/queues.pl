#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# queues.pl BIN TRACE: the numbers of fkt_print --queues --elapsed, made once more from the trace's events alone. The trace has to be
# whole, without losses.

use strict;
use warnings;

my ($bin, $trace) = @ARGV;
my ($failed, $compared) = (0, 0);

sub fail { print "FAILED: $trace: @_\n"; $failed = 1 }

# Lines of JSON; the arguments of an event are "args.NAME".
sub lines {
	my (@lines, %row);

	open(my $in, '-|', "$bin/fkt_print --format json @_ '$trace'") or die "fkt_print: $!";
	while (<$in>) {
		my %row;
		s/"args":\{(.*?)\}(?=[,}])//;
		my $args = $1 // '';
		$row{$1} = $2 // $3 while /"(\w+)":(?:"((?:[^"\\]|\\.)*)"|([^,}\]]+))/g;
		$row{"args.$1"} = $2 // $3 while $args =~ /"(\w+)":(?:"((?:[^"\\]|\\.)*)"|([^,}\]]+))/g;
		push @lines, \%row;
	}
	close($in);
	return @lines;
}

my @events = lines('--no-summary');
my ($begin, $end) = ($events[0]{stamp}, $events[-1]{stamp});
{
	local $/;
	open(my $file, '<', $trace) or die "$trace: $!";
	my $bytes = <$file>;
	$begin = $1 if $bytes =~ /start_cycles=(\d+)/;
	$end = $1 if $bytes =~ /stop_cycles=(\d+)/;
}

# Woken on its way out of its CPU, a thread is ready and does not sleep: it runs again, and nobody has woken it since.
my (%on, %way_out, %off, %seen);
for (@events) {
	$on{$_->{tid}} = 1 unless $seen{$_->{cpu}}++;
	if ($_->{name} =~ /^wakeup/) {
		my $pid = $_->{'args.pid'};
		$on{$pid} ? ($way_out{$pid} = 1) : delete $off{$pid};
	} elsif ($_->{name} eq 'switch_to') {
		my $next = $_->{'args.next'};
		delete $on{$_->{tid}};
		$off{$_->{tid}} = $_ if delete $way_out{$_->{tid}};
		my $left = delete $off{$next};
		$left->{was_ready} = 1 if $left && $left->{'args.state'} !~ /[RXZ]/;
		$on{$next} = 1;
		delete $way_out{$next};
	}
}

my (%want, %stack, %irq, %since, %runs, %current, %hidden, %left, $now, $most);

# A call from entry to exit; those inside it that have not ended never do.
sub leave {
	my ($stack, $row, $stamp, $key) = @_;

	return unless grep { $_->[0] eq $row } @$stack;
	pop @$stack while $stack->[-1][0] ne $row;
	my $call = pop @$stack;
	$want{$key}[0]++;
	$want{$key}[1] += $stamp - $call->[1];
}

# Who was woken on its way out is ready, but nobody can tell before it runs again: it is not among the most.
sub ready {
	my ($pid, $stamp, $hidden) = @_;

	return if !$pid || exists $since{$pid};
	$since{$pid} = $stamp;
	$hidden{$pid} = 1 if $hidden;
	$most = $now if !$hidden && ++$now > $most;
}

sub gets {
	my ($pid, $cpu, $stamp) = @_;
	my $from = delete $since{$pid};

	return unless defined $from;
	$now-- unless delete $hidden{$pid};
	# Since when one waits that slept when the trace began is not known.
	return unless $left{$pid};
	$want{"queue $cpu"}[0]++;
	$want{"queue $cpu"}[1] += $stamp - $from;
}

$now = $most = 0;
for (@events) {
	my ($code, $cpu, $tid, $stamp) = (hex $_->{code}, $_->{cpu}, $_->{tid}, $_->{stamp});
	my $inside = @{$irq{$cpu} //= []};
	my $stack = $inside ? $irq{$cpu} : $stack{$tid || "idle/$cpu"} //= [];
	my $thread = $inside ? '' : $tid;

	$runs{$tid} = 1 unless defined $current{$cpu};
	$current{$cpu} = $tid;
	if ($code < 0x400 || ($code >= 0x10000 && !($code & 1))) {
		push @$stack, [$_->{name}, $stamp];
	} elsif ($code < 0x800 || $code >= 0x10000) {
		leave($stack, $_->{name}, $stamp, "queue_calls $thread $cpu $_->{name}");
	} elsif (($code >= 0x1000 && $code < 0x1004) || ($code >= 0x1080 && $code < 0x1100)) {
		my $exit = $code >= 0x1080 ? $code >= 0x10c0 : $code & 1;
		my $row = $code >= 0x1080 ? $_->{name} =~ s/_exit$//r
			: $code < 0x1002 ? "irq $_->{'args.irq'}" . (defined $_->{'args.irq_name'} ? " $_->{'args.irq_name'}" : '')
			: "softirq $_->{'args.vec_name'}";
		if ($exit) {
			leave($irq{$cpu}, $row, $stamp, "interrupts  $cpu $row");
		} else {
			push @{$irq{$cpu}}, [$row, $stamp];
		}
	} elsif ($_->{name} =~ /^wakeup/) {
		$left{$_->{'args.pid'}} = 1 if $_->{name} eq 'wakeup_new';
		ready($_->{'args.pid'}, $stamp, 0) unless $runs{$_->{'args.pid'}};
	} elsif ($_->{name} eq 'switch_to') {
		my ($next, $state) = ($_->{'args.next'}, $_->{'args.state'});
		$irq{$cpu} = [];
		delete $runs{$tid};
		$left{$tid} = 1;
		ready($tid, $stamp, 0) if $state eq 'R';
		ready($tid, $stamp, 1) if $_->{was_ready};
		delete $stack{$tid} if $state =~ /[XZ]/;
		gets($next, $cpu, $stamp);
		$runs{$next} = 1 if $next;
		$current{$cpu} = $next;
	}
}
gets($_, 'none yet', $end) for keys %since;

my %got;
for (lines('--no-summary --queues --elapsed')) {
	my $table = $_->{table} // '';
	if ($table eq 'queue_total') {
		my ($count, $sum) = (0, 0);
		for my $key (grep { /^queue / } keys %want) {
			$count += $want{$key}[0];
			$sum += $want{$key}[1];
		}
		my $average = sprintf('%.4f', $sum / ($end - $begin));
		my $is = "$_->{count} $_->{sum_cycles} $_->{waiting_average} $_->{waiting_most}";
		my $made = "$count $sum $average $most";
		fail("in all: $is, and the events say $made") if $is ne $made;
		$compared++;
		next;
	}
	my $tid = $table eq 'queue_calls' ? ($_->{tid} // 'null') : '';
	$tid = '' if $tid eq 'null';
	my $key = $table eq 'queue' ? "queue $_->{cpu}" : "$table $tid $_->{cpu} " . ($_->{name} // $_->{function});
	$key =~ s/^interrupts  ?/interrupts  /;
	$got{$key} = [$_->{count}, $_->{sum_cycles}];
}
for my $key (sort keys %{{ %got, %want }}) {
	my ($is, $made) = map { $_ ? "@$_" : 'nothing' } $got{$key}, $want{$key};
	fail("$key: $is, and the events say $made") if $is ne $made;
	$compared++;
}
fail('hardly anything was compared') if $compared < 5;
exit $failed;
