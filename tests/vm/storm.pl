#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# storm.pl SAID COUNT LOST OWN <LISTING: what "app_events storm COUNT" has said of what it made, against the listing of the trace
# (fkt_print --no-summary, with --args): made = read + LOST, where the recording itself has lost no more than OWN events of any kind;
# each thread's events and those of the children in order, none twice; each between the two close() that surround its block of a hundred.

use strict;
use warnings;

my ($said, $count, $lost, $own) = @ARGV;
my ($made_least, $made_most, $read, $between, $untold) = (0, 0, 0, 0, 0);
my (%next, %open, %child, %next_child, %handler, %last, @outside);

open(my $in, '<', $said) or die "$said: $!\n";
while (<$in>) {
	if (/^made (\d+) (\d+)$/) {
		$made_least += $2;
		$made_most += $2;
	} elsif (/^killed (\d+) (\d+) (\d+)$/) {
		$child{$1} = $3;
		$made_least += $2;
		$made_most += $3;
	}
}
die "$said: no children\n" if keys %child < 2;
while (<STDIN>) {
	# What is missing may be a call: since that CPU's last event, of those that programs do not write themselves, it was not
	# known which blocks were open.
	if (/^\*\*\*/) {
		my $since = /\(CPU (\d+)\)/ ? $last{$1} // 0 : 0;
		while (@outside && $outside[-1][0] > $since) {
			pop @outside;
			$untold++;
			$between--;
		}
		%open = ();
		next;
	}
	$last{$1} = $. if /^ *\S+ +(\d+) / && !/ app:/;
	if (/ sys_close +fd=(0x4[0-9a-f]+|\d{10})/) {
		my $text = $1;
		my $number = $text =~ /^0x/ ? hex $text : $text;
		next unless $number >> 24 >= 0x40 && $number >> 24 < 0x44;
		my $thread = ($number >> 24) - 0x40;
		$open{$thread} = ($open{$thread} // 0) == $number ? 0 : $number;
	} elsif (/app:numbered +thread=(\d+) number=(\d+)/) {
		my ($thread, $number) = ($1, $2);
		$read++;
		die "thread $thread: $number behind $next{$thread}\n" if $number <= ($next{$thread} // 0) || $number > $count;
		$next{$thread} = $number;
		if (!defined $open{$thread}) {
			$untold++;
			next;
		}
		my $block = 0x40000000 | $thread << 24 | ($number - ($number - 1) % 100);
		$between++;
		push @outside, [ $., "thread $thread: $number" ] if $open{$thread} != $block;
	} elsif (/app:in_handler +number=(\d+)/) {
		$read++;
		die "a handler's $1 is there twice\n" if $handler{$1}++;
	} elsif (/^ *\S+ +\d+ +(\d+) .*? app:of_child +number=(\d+)/) {
		$read++;
		die "$1 is no child\n" if !defined $child{$1};
		die "child $1: $2\n" if $2 <= ($next_child{$1} // 0) || $2 > $child{$1};
		$next_child{$1} = $2;
	}
}
print "made $made_least", $made_most > $made_least ? " to $made_most" : '', ", read $read, lost $lost and of the recording's own $own; $between between their calls, of ",
	"$untold it is not known; ", scalar(keys %child), " children, ", scalar(keys %handler), " signals\n";
die "$outside[0][1] is outside of its calls\n" if @outside;
die "made is not read + lost\n" if $read + $lost + $own < $made_least || $read + $lost > $made_most;
die "none is there\n" if !$read || !%handler || !%next_child;
die "of most it is not known\n" if $untold > $between;
