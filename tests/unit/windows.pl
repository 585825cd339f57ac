#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: windows.pl [--picked] BIN TRACE "BEGIN…" "END…" <VIEWS
#
# In each window BEGIN..END of a trace (the last END is "end"), fkt_extract's part of it has to look like the window of the whole trace in each of fkt_print's
# views, which are lines of options. With --picked so have the parts of each of two CPUs and processes. Prints what differs, and
# exits with 1 then. One process for all of it: a test has some thousand of these, and a shell takes ten for each. Where tests/run is
# not asked for all that takes long, every second window has to do.

use strict;
use warnings;
use Text::ParseWords;

my $picked = @ARGV && $ARGV[0] eq '--picked' && shift;
my ($bin, $trace, $begins, $ends) = @ARGV;
my @picks = $picked ? map { [shellwords($_)] } '--cpu 0', '--cpu 1', '--process 70', '--process 71' : [];
my @views = map { [shellwords($_)] } grep { /\S/ } <STDIN>;
my ($part, $compared, $windows) = ("$trace.part", 0, 0);
my $every = length($ENV{FKT_WHOLE} // 'yes') ? 1 : 2;

# What the tools say besides is of no interest.
open(my $said, '>&', \*STDOUT) or die("$!\n");
open(STDOUT, '>', '/dev/null');
open(STDERR, '>', '/dev/null');

sub look {
	my ($view, @rest) = @_;

	open(my $out, '-|', "$bin/fkt_print", @$view, '--format', 'csv', @rest) or exit(1);
	my @lines = <$out>;
	close($out);
	return @lines;
}

# Of a pick, events are not as many, times are since the part's first one, and arguments not known.
sub comparable {
	my ($view, @lines) = @_;

	return sort @lines if !$picked;
	if ($view->[0] eq '-q') {
		splice(@lines, 0, 2);
	} elsif ($view->[0] eq '--noise') {
		my ($head) = grep { $lines[$_] =~ /^begin_stamp/ } 0 .. $#lines;
		splice(@lines, $head) if defined($head);
	} elsif ($view->[-1] eq '--spans') {
		for (@lines) {
			s/\{\}//;
			s/"\{.*\}"//;
			my @column = split(/,/);
			$_ = join(',', @column[0, 2], @column[4 .. $#column]);
		}
	}
	return sort @lines;
}

for my $begin (split(' ', $begins)) {
	for my $end (split(' ', $ends, -1)) {
		next if $windows++ % $every;
		my @range = ('--range', $begin . '..' . ($end eq 'end' ? '' : $end));

		for my $pick (@picks) {
			# None, where nothing is in it.
			system("$bin/fkt_extract", @$pick, @range, '-o', $part, $trace) == 0 or next;
			for my $view (@views) {
				my @whole = comparable($view, look($view, @$pick, @range, $trace));
				my @cut = comparable($view, look($view, @$pick, $part));

				$compared++;
				next if "@whole" eq "@cut";
				print($said "@$view @$pick @range\n--- the whole trace's\n", @whole, "--- the part's\n", @cut);
				unlink($part);
				exit(1);
			}
		}
	}
}
unlink($part);
print($said "$compared compared\n");
exit($compared ? 0 : 1);
