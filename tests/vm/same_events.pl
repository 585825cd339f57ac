#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# same_events.pl CPU|thread FKT FTRACE NAME…: whether what ftrace recorded of these events is what FKT recorded, on each CPU
# in the same order and with the same arguments; or, with "thread", in the same order in each thread, for where a thread can
# come to another CPU between the two tracers. FKT began earlier and ended later, so it may have more before and behind.

use strict;
use warnings;
no warnings 'portable';

my ($by, $fkt_name, $ftrace_name, @names) = @ARGV;

# Events of which ftrace does not print the arguments as they are: the arguments' names for FKT, a pattern for ftrace.
my %fields = (
	sys_enter => [ 'id', qr/NR (-?\d+)/ ],
	sys_exit => [ 'ret', qr/NR -?\d+ = (-?\d+)/ ],
	page_fault_user => [ 'address error_code', qr/address=(\S+) .*error_code=(\S+)/ ],
	local_timer_entry => [ 'vector', qr/vector=(\d+)/ ],
	softirq_entry => [ 'vec', qr/vec=(\d+)/ ],
	irq_handler_entry => [ 'irq', qr/irq=(\d+)/ ],
	cpu_idle => [ 'state cpu_id', qr/state=(\d+) cpu_id=(\d+)/ ],
	signal_generate => [ 'sig group result', qr/sig=(\d+) .*grp=(\d+) res=(\d+)/ ],
	jbd2_handle_start => [ 'dev tid type line_no requested_blocks',
		qr/dev (\d+,\d+) tid (\d+) type (\d+) line_no (\d+) requested_blocks (\d+)/ ],
	ext4_sync_file_enter => [ 'datasync', qr/datasync (\d+)/ ],
	ext4_sync_file_exit => [ 'ret', qr/ret (-?\d+)/ ],
);

sub number {
	my ($text) = @_;

	return ($1 << 20) | $2 if $text =~ /^(\d+),(\d+)$/;
	return hex $text if $text =~ /^0x/;
	return $text;
}

# What a kprobe event fetched, as FKT prints it.
sub fetched {
	my ($text) = @_;

	$text =~ s/\(fault\)/"(fault)"/g;
	$text =~ s/""\(fault\)""/"(fault)"/g;
	# Addresses: without the size of what is there.
	$text =~ s/(\+0x[0-9a-f]+)\/0x[0-9a-f]+/$1/g;
	return $text;
}

# Where an event is: the CPU, and the thread. Each CPU has an idle one of its own.
sub places {
	my ($cpu, $thread) = @_;

	return ("CPU $cpu", 'thread ' . ($thread || "0 of CPU $cpu"));
}

my (%fkt, %ftrace);
my %wanted = map { $_ => 1 } @names;

open my $in, '<', $fkt_name or die "$fkt_name: $!\n";
while (<$in>) {
	/^ *-?\d+ +(\d+) +(\d+|\?) .{16} [0-9a-f]{4,5}  (\S+) *(.*)/ or next;
	my ($cpu, $thread, $event, $args) = ($1, $2, $3, $4);
	my $name = $event =~ s/.*://r;
	# The built-in layers have events that are called the same, without a system.
	next if !$wanted{$name} || ($fields{$name} && $name eq $event);
	# The end of a call.
	next if $args =~ /^= /;
	if ($fields{$name}) {
		my @values = map { $args =~ /(?:^| )$_=(\S+)/ ? number($1) : "no $_" } split / /, $fields{$name}[0];
		$args = "@values";
	}
	push @{$fkt{$name}{$_}}, $args for places($cpu, $thread);
}
close $in;

open $in, '<', $ftrace_name or die "$ftrace_name: $!\n";
while (<$in>) {
	/^ .*?-(\d+) +\[(\d+)\] \S+ +[\d.]+: (\w+): (.*)/ or next;
	my ($thread, $cpu, $name, $text) = ($1, $2 + 0, $3, $4);
	next unless $wanted{$name};
	if ($fields{$name}) {
		my @values = map { number($_) } $text =~ $fields{$name}[1];
		$text = "@values";
	} else {
		$text =~ s/^\([^)]*\) ?//;
		$text = fetched($text);
	}
	push @{$ftrace{$name}{$_}}, $text for places($cpu, $thread);
}
close $in;

# What is wrong with an event on the CPUs, or in the threads; empty if nothing is.
sub wrong {
	my ($name, $kind) = @_;
	my $wrong = '';

	for my $place (sort grep { /^$kind / } keys %{$ftrace{$name}}) {
		my @theirs = @{$ftrace{$name}{$place}};
		my @ours = @{$fkt{$name}{$place} // []};
		my $best = -1;

		# Where theirs begin in ours: the place from which most are equal.
		for my $at (0 .. $#ours) {
			last if $at + @theirs > @ours;
			my $same = 0;
			$same++ while $same < @theirs && $theirs[$same] eq $ours[$at + $same];
			$best = $same if $same > $best;
			last if $same == @theirs;
		}
		next if $best == @theirs;
		$wrong .= "$name: $place: ftrace has " . @theirs . ', FKT ' . @ours . '; they are equal up to number ' .
			($best < 0 ? 'none' : $best) . "\n  ftrace: $theirs[$best < 0 ? 0 : $best]\n  FKT:    " .
			($ours[0] // 'nothing') . "\n";
	}
	return $wrong;
}

my $failed = 0;
for my $name (@names) {
	if (!$ftrace{$name}) {
		print "$name: ftrace has none\n";
		$failed = 1;
		next;
	}
	my $wrong = wrong($name, 'CPU');
	$wrong = wrong($name, 'thread') if $wrong && $by eq 'thread';
	my $total = 0;
	$total += @{$ftrace{$name}{$_}} for grep { /^CPU/ } keys %{$ftrace{$name}};
	print "$wrong$name: $total\n";
	$failed = 1 if $wrong;
}
exit $failed;
