#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# same_events.pl FKT FTRACE NAME…: whether what ftrace recorded of these events is what FKT recorded, on each CPU in the
# same order and with the same arguments. FKT began earlier and ended later, so it may have more before and behind.

use strict;
use warnings;
no warnings 'portable';

my ($fkt_name, $ftrace_name, @names) = @ARGV;

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

my (%fkt, %ftrace);
my %wanted = map { $_ => 1 } @names;

open my $in, '<', $fkt_name or die "$fkt_name: $!\n";
while (<$in>) {
	/^ *-?\d+ +(\d+) +(?:\d+|\?) .{16} [0-9a-f]{4,5}  (\S+) *(.*)/ or next;
	my ($cpu, $event, $args) = ($1, $2, $3);
	my $name = $event =~ s/.*://r;
	# The built-in layers have events that are called the same, without a system.
	next if !$wanted{$name} || ($fields{$name} && $name eq $event);
	# The end of a call.
	next if $args =~ /^= /;
	if ($fields{$name}) {
		my @values = map { $args =~ /(?:^| )$_=(\S+)/ ? number($1) : "no $_" } split / /, $fields{$name}[0];
		push @{$fkt{$name}{$cpu}}, "@values";
	} else {
		push @{$fkt{$name}{$cpu}}, $args;
	}
}
close $in;

open $in, '<', $ftrace_name or die "$ftrace_name: $!\n";
while (<$in>) {
	/^ .*?-\d+ +\[(\d+)\] \S+ +[\d.]+: (\w+): (.*)/ or next;
	my ($cpu, $name, $text) = ($1 + 0, $2, $3);
	next unless $wanted{$name};
	if ($fields{$name}) {
		my @values = map { number($_) } $text =~ $fields{$name}[1];
		push @{$ftrace{$name}{$cpu}}, "@values";
	} else {
		$text =~ s/^\([^)]*\) ?//;
		push @{$ftrace{$name}{$cpu}}, fetched($text);
	}
}
close $in;

my $failed = 0;
for my $name (@names) {
	my $total = 0;
	if (!$ftrace{$name}) {
		print "$name: ftrace has none\n";
		$failed = 1;
		next;
	}
	for my $cpu (sort keys %{$ftrace{$name}}) {
		my @theirs = @{$ftrace{$name}{$cpu}};
		my @ours = @{$fkt{$name}{$cpu} // []};
		my $best = -1;

		$total += @theirs;
		# Where theirs begin in ours: the place from which most are equal.
		for my $at (0 .. $#ours) {
			last if $at + @theirs > @ours;
			my $same = 0;
			$same++ while $same < @theirs && $theirs[$same] eq $ours[$at + $same];
			$best = $same if $same > $best;
			last if $same == @theirs;
		}
		next if $best == @theirs;
		print "$name: on CPU $cpu ftrace has ", scalar @theirs, ", FKT ", scalar @ours,
			"; they are equal up to number ", $best < 0 ? 'none' : $best, "\n";
		print "  ftrace: $theirs[$best < 0 ? 0 : $best]\n";
		print "  FKT:    ", $ours[0] // 'nothing', "\n";
		$failed = 1;
	}
	print "$name: $total\n";
}
exit $failed;
