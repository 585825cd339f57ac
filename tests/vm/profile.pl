#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# profile.pl OURS PERF: shares of samples by function: fkt_print --profile --format csv against perf script -F comm,ip,sym of
# the same run. Each function that has more than 5 % with either has the same with both, but for 2 points; or for three
# standard deviations, where there are few samples.

use strict;
use warnings;

my ($ours, $perf) = @ARGV;
my (%fkt, %perf, $fkt, $all);

open my $in, '<', $ours or die "$ours: $!\n";
while (<$in>) {
	chomp;
	# function,object,self_percent,total_percent,samples,total_samples
	my @cells = split /,/;
	next if @cells != 6 || $cells[4] !~ /^\d+$/;
	$fkt{$cells[0]} += $cells[4];
	$fkt += $cells[4];
}
open $in, '<', $perf or die "$perf: $!\n";
my $first = 0;
while (<$in>) {
	if (/^\S/) {
		$first = 1;
	} elsif ($first && /^\s+([0-9a-f]+) (.+?)(\+0x[0-9a-f]+)?( \(.*)?$/) {
		$perf{$2}++;
		$all++;
		$first = 0;
	}
}
die "no samples: $fkt of FKT, $all of perf\n" if !$fkt || !$all;
printf "%d samples of FKT, %d of perf\n", $fkt, $all;
my ($wrong, $compared) = (0, 0);
for my $name (sort { ($fkt{$b} // 0) <=> ($fkt{$a} // 0) } keys %{{ %fkt, %perf }}) {
	my ($a, $b) = (($fkt{$name} // 0) / $fkt, ($perf{$name} // 0) / $all);
	next if $a <= .05 && $b <= .05;
	my $p = ($a * $fkt + $b * $all) / ($fkt + $all);
	my $sigma = sqrt($p * (1 - $p) * (1 / $fkt + 1 / $all));
	my $may = .02 > 3 * $sigma ? .02 : 3 * $sigma;
	my $ok = abs($a - $b) <= $may;
	printf "%-4s %-32s %5.1f %% of FKT's, %5.1f %% of perf's, may differ by %.1f\n", $ok ? 'ok' : 'NOT', $name, 100 * $a,
		100 * $b, 100 * $may;
	$wrong ||= !$ok;
	$compared++;
}
die "only $compared functions were compared\n" if $compared < 4;
exit $wrong;
