#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# top.pl BIN TRACE NS [-]: what fkt_top says of each interval of NS nanoseconds is what fkt_print says of that part of the trace,
# and the last one's sums of everything are those of the whole trace. With -, of the trace as a stream.

use strict;
use warnings;

my ($bin, $trace, $ns, $stream) = @ARGV;
my $input = $stream ? "- <'$trace'" : "'$trace'";
my ($failed, $compared) = (0, 0);

sub fail { print "FAILED: @_\n"; $failed = 1 }

# Tables of CSV: a reference to a row's fields by their names, for each row.
sub rows {
	my ($command) = @_;
	my (@names, @rows);

	open(my $in, '-|', "$command 2>/dev/null") or die "$command: $!";
	while (<$in>) {
		chomp;
		next if $_ eq '';
		my @fields;
		push @fields, $1 // $2 while /\G(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g;
		if (/^(interval|name|process|tid|command|code|event),/) {
			my %seen;
			@names = map { $seen{$_}++ ? "$_ again" : $_ } @fields;
			next;
		}
		my %row;
		@row{@names} = @fields[0 .. $#names];
		push @rows, \%row;
	}
	close($in);
	return @rows;
}

# What both have of a row: where it stands, and its numbers.
sub numbers {
	my ($sums, @rows) = @_;
	my %summed;

	for my $row (@rows) {
		my ($key, @values);
		$_ //= '' for values %$row;
		if (exists $row->{own_cycles}) {
			next if $row->{name} =~ /^Total/;
			($key, @values) = ("row $row->{name}", @$row{qw(own_cycles calls partial)}, grep { defined } @$row{qw(page_faults task_clock_ns)});
		} elsif (exists $row->{on_cpu_cycles} && exists $row->{tid}) {
			next if $row->{process} eq 'total';
			($key, @values) = ("thread $row->{tid} $row->{process}",
				@$row{qw(on_cpu_cycles interrupts_cycles waiting_cycles sleep_s_cycles sleep_d_cycles switches)});
		} elsif (exists $row->{state}) {
			# fkt_print has a row for each waker, and there may be several threads of a name and number.
			($key, @values) = ("wait $row->{tid} $row->{process} $row->{state} $row->{in}", @$row{qw(count sum_cycles)});
		} elsif (exists $row->{stack}) {
			next if !$row->{count};
			($key, @values) = ("stack $row->{event} $row->{stack}", $row->{count});
		} else {
			next;
		}
		for my $i (0 .. $#values) {
			$summed{$key}[$i] += $values[$i] || 0;
		}
	}
	$sums->{$_} = join(' ', @{$summed{$_}}) for keys %summed;
}

sub compare {
	my ($where, $print, $top) = @_;

	for my $key (sort keys %{{ %$print, %$top }}) {
		my ($want, $got) = map { $_->{$key} // 'nothing' } $print, $top;
		$compared++;
		fail("$trace, $where, $key: fkt_print has $want, fkt_top has $got") if $want ne $got;
	}
}

my (%interval, $number, %all);
for my $row (rows("$bin/fkt_top --rows 0 --format csv -d " . sprintf('%.9f', $ns / 1e9) . " $input")) {
	$number = $row->{interval} if exists $row->{interval};
	push @{$interval{$number}}, $row;
	$all{$row->{name}} = "$row->{all_own_cycles} $row->{all_calls}" if exists $row->{all_own_cycles};
}
fail("$trace: no interval") if !%interval;
for my $i (sort { $a <=> $b } keys %interval) {
	my $range = '--range=' . $i * $ns . 'ns..' . ($i + 1) * $ns . 'ns';
	my (%print, %top);

	numbers(\%print, rows("$bin/fkt_print -q --waits --format csv $range $input"),
		grep { exists $_->{stack} } rows("$bin/fkt_print --no-summary --by=stack --format csv $range $input"));
	numbers(\%top, @{$interval{$i}});
	compare($range, \%print, \%top);
	my ($trace_row) = grep { exists $_->{selected_events} } rows("$bin/fkt_print -q --format csv $range $input");
	my ($want, $got) = ($trace_row->{events} // 0, $interval{$i}[0]{events});
	fail("$trace, $range: $want events, fkt_top has $got") if $want ne $got;
}
# All of it, unless the recording went on behind the last interval that has an event.
my @whole = rows("$bin/fkt_print -q --format csv $input");
my ($duration) = map { $_->{duration_ns} } grep { exists $_->{selected_events} } @whole;
if (($number + 1) * $ns >= $duration) {
	my %whole = map { $_->{name} => "$_->{own_cycles} " . ($_->{calls} // '') }
		grep { exists $_->{own_cycles} && $_->{name} !~ /^Total/ } @whole;

	compare('all', \%whole, \%all);
}
fail("$trace: nothing was compared") if !$compared;
print "$trace: ", scalar(keys %interval), " intervals, $compared rows\n";
exit $failed;
