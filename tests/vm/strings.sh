# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The memory of system calls, beside strace's: the same lines, but for what docs/strace.md says.

. "$TOP/tests/vm/lib.sh"

printf '/nowhere/mapped\0' >mapped
# Not in a page table before it is asked for, also of those of this file that are read ahead.
cat >lines.pl <<'END'
	# Each thread's lines, one call each; numbers of threads by the order in which they come.
	my (%number, %open, %lines, $next, %inode, $inodes);
	while (<STDIN>) {
		s/^(\d+)\s+// or die "no thread: $_";
		my $t = $number{$1} //= ++$next;
		chomp;
		next if /^--- / || /^\+\+\+/;
		if (s/ <unfinished \.\.\.>$//) {
			$open{$t} = $_;
			next;
		}
		$_ = delete($open{$t}) . $_ if s/^<\.\.\. \w+ resumed>//;
		s/\s+= /  = /;
		s/\b(\d+)\b/$number{$1} ? "PID" : $1/e if /^(set_tid_address|clone|wait4|getpid)/ && / = (\d+)$/;
		s/ = \d+$/ = PID/ if /^(set_tid_address|clone)/;
		s/^wait4\(\d+/wait4(PID/, s/ = \d+$/ = PID/ if /^wait4/;
		# Where the stack begins depends on the environment; and random bytes.
		s/0x7ff[0-9a-f]{9}\b/STACK/g;
		s/^(getrandom\()"[^"]*"/$1BYTES/;
		# strace shows of what is not all there only where it is.
		s/"e+"\.\.\.(?=.* EFAULT )/STACK/;
		s!</proc/\d+!</proc/PID!g;
		s/\b(pipe|socket):\[(\d+)\]/"$1:" . ($inode{$2} \/\/= ++$inodes)/ge;
		push @{$lines{$t}}, $_;
	}
	# What came before the program is the tracer's.
	for my $t (sort { $a <=> $b } keys %lines) {
		my @lines = @{$lines{$t}};
		shift @lines while $t == 1 && @lines && $lines[0] !~ /^execve\("[^"]*memory_calls"/;
		printf "%s $_\n", $t == 1 ? "parent" : "child" for @lines;
	}
END

program=$(command -v memory_calls)
compare() {
	local bytes=$1

	shift
	rm -rf /mnt/disk/wood
	sync
	echo 1 >/proc/sys/vm/drop_caches
	expect 0 strace -f -y -s "$bytes" -o strace.out "$program" mapped
	perl lines.pl <strace.out >strace.lines
	rm -rf /mnt/disk/wood
	sync
	echo 1 >/proc/sys/vm/drop_caches
	expect 0 fkt_record "$@" --only-command -o trace "$program" mapped
	check 'nothing was lost' [ "$(lost)" = 0 ]
	fkt_print --strace trace | perl lines.pl >fkt.lines
	check "$(wc -l <strace.lines) lines" [ "$(wc -l <strace.lines)" -gt 90 ]
	check "the same lines ($*)" diff strace.lines fkt.lines
}

compare 32 --strings
fkt_print --no-summary trace >events
check 'memory that was not there yet' grep -q 'data .*of=0x10 call=0x2 index=0 bytes=0' events
check 'and is there in the end' grep -q 'data .*of=0x8 call=0x2 index=0 bytes=15 /nowhere/mapped' events
compare 7 --strings=7 --lanes 1
compare 5 --strings=5 --stack 'sys_open*'
compare 4096 --strings=4096
rm -rf /mnt/disk/wood
expect 0 fkt_record --strings=0 --only-command -o trace "$program" mapped
expect 0 fkt_print --strace trace
check 'none of a buffer, and all of a path' [ "$(grep -c -e '^[0-9]* *write(5<pipe:.*, ""\.\.\., 3[0-4])' -e 'open("/nowhere/mapped"' .out)" = 7 ]

# 32-bit programs have pointers of 4 bytes.
expect 7 fkt_record --strings --only-command -o trace "$TOP/build/tests/vm/ia32"
expect 0 fkt_print --strace trace
check 'what a 32-bit program writes' grep -q '^[0-9]* *ia32_write(1<[^>]*>, "hi\\n", 3) *= 3$' .out

expect 2 fkt_record --strings=4097 -o trace true
expect 2 fkt_record --strings=-1 -o trace true
expect 2 fkt_record --strings=x -o trace true
check 'it says what it takes' said 'a number of bytes from 0 to 4096'
