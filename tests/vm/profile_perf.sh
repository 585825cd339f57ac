# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 600 s
#
# Samples: the shares that perf's have of the same run, what gprof says of them, and what a tick does not show.

. "$TOP/tests/vm/lib.sh"

echo '--- the shares that perf has of the same run'
expect 0 fkt_record --profile -o t -- perf record -q -N -B -F 997 -g -e cpu-clock -o perf.data hot 10
perf script -i perf.data --comm hot -F comm,ip,sym >perf.txt 2>/dev/null
fkt_print --profile --format csv --process hot t | sed -n '/^function/,$p' >ours.csv
check 'as many in each function' "$TOP/tests/vm/profile.pl" ours.csv perf.txt
fkt_print --profile --process hot t >table
head -30 table
check 'a program has its functions' grep -q '^four_parts  *hot ' table
read -r one four < <(grep -E '^[0-9]+ [0-9]+$' .out)
check "shares are those of the program's own clock, four parts to one part: $four to $one ns" perl -F, -ne '
	BEGIN { ($one, $four) = splice @ARGV, 0, 2 } $of{$F[0]} = $F[4] if @F == 6;
	END { exit !($one && abs($of{four_parts} / $of{one_part} / ($four / $one) - 1) < .25) }' "$one" "$four" ours.csv
check 'outer() has those in it' [ "$(fkt_print --profile --format csv --process hot t | perl -F, -ne '
	$total{$F[0]} = $F[5] if @F == 6; $self{$F[0]} = $F[4] if @F == 6;
	END { print abs($total{outer} - $self{outer} - $total{two_parts} - $total{four_parts}) <= .02 * $total{outer} ? "yes" : "no" }')" = yes ]

echo '--- for gprof'
expect 0 fkt_print --gmon gmon --process hot t
gprof -b -p gmon.elf gmon >flat 2>gprof.err
check 'gprof says nothing against it' [ ! -s gprof.err ]
# time SECONDS … NAME: the same percents as in our own table.
check 'its flat profile is ours' perl -e '
	open my $in, "<", "flat"; open my $ours, "<", "ours.csv";
	while (<$in>) { $gprof{$2} = $1 if /^ *(\d+\.\d+) .*? (\S+?)( \(.*\))?$/ }
	while (<$ours>) { @F = split /,/; next if @F != 6 || $F[2] !~ /^[\d.]+$/ || $F[2] < 1;
		$n++; die "$F[0]: $F[2], $gprof{$F[0]}\n" if abs($F[2] - ($gprof{$F[0]} // 0)) > .02 }
	exit($n < 4)'
gprof -b -q gmon.elf gmon >graph
check 'who calls whom' perl -0ne '/^-+\n((?:(?!-----)[^\n]*\n)*\[\d+\][^\n]* outer \(hot\) [^\n]*\n(?:(?!-----)[^\n]*\n)*)/m or exit 1;
	my $of = $1; exit !($of =~ /main \(hot\).*outer/s && $of =~ /outer.*four_parts/s && $of =~ /outer.*two_parts/s)' graph
expect 0 fkt_record -F 'vfs_*' -F 'ksys_*' -k system -o t -- hot 2
expect 0 fkt_print --gmon gmon t
gprof -b -p gmon.elf gmon >flat
fkt_print -q --format csv t >summary.csv
check 'calls and times of function pairs are those of the summary' perl -e '
	open my $in, "<", "flat"; open my $ours, "<", "summary.csv";
	while (<$in>) { $calls{$3} = $2, $time{$3} = $1 if /^ *[\d.]+ +[\d.]+ +([\d.]+) +(\d+) +[\d.]+ +[\d.]+ +(\w+)$/ }
	while (<$ours>) { /^(ksys_read|sys_getppid|vfs_read),/ or next; my ($name, @F) = split /,/;
		print "$_$calls{$name} $time{$name}\n"; $n++;
		(grep { $_ eq $calls{$name} } @F) or die "$name: $calls{$name} calls\n";
		(grep { /^\d+$/ && abs($_ / 1e9 - $time{$name}) < .006 } @F) or die "$name: $time{$name} s\n" }
	exit($n < 3)'

echo '--- what the tick does not show: a prime number'
expect 0 fkt_record --profile 250 -o t -- taskset -c 1 hot 6 quarters
cp t tick
expect 0 fkt_record --profile -o t -- taskset -c 1 hot 6 quarters
# largest FILE: the share of the largest quarter among them.
largest() {
	fkt_print --profile --format csv "$1" | perl -F, -ne '
		if (@F == 6 && $F[0] =~ /^quarter_/) { $n += $F[4]; $most = $F[4] if $F[4] > ($most // 0); }
		END { print int(100 * $most / ($n || 1)) }'
}
check "250 a second meet always the same: $(largest tick) %" [ "$(largest tick)" -ge 45 ]
check "997 a second meet them all: $(largest t) %" [ "$(largest t)" -le 40 ]
