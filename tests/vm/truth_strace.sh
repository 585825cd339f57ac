# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The system calls of a workload that always makes the same ones, counted by FKT and by "strace -c -f": the same calls, as
# often, as often with an error.

. "$TOP/tests/vm/lib.sh"

expect 0 strace -c -f -o strace.out "$(command -v workload)"
# The columns are % time, seconds, usecs/call, calls, errors (may be empty), syscall.
awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4, NF == 6 ? $5 : 0 }' strace.out | sort >strace.counts

compare() {
	expect 0 fkt_record -o trace "$@" "$(command -v workload)"
	check 'nothing was lost' [ "$(lost)" = 0 ]
	fkt_print --no-summary --time=cycles trace | perl -ne '
		next unless /^ *-?\d+ +\d+ +(\d+) .{16} ([0-9a-f]{4,5})  (\S+) *(.*)$/;
		my ($pid, $code, $name, $args) = ($1, hex $2, $3, $4);

		# The command begins with its execve(), and is from there on all that descends from it.
		if ($name eq "sys_execve" && $code < 0x400 && !%ours) {
			$ours{$pid} = 1;
		} elsif ($name eq "fork") {
			my @tids = $args =~ /\[(\d+)\](?= |$)/g;
			$ours{$tids[0]} = 1 if $ours{$tids[1]};
		}
		next if $code >= 0x800 || !$ours{$pid};
		# strace counts calls that return, and does not see a new thread come out of its parent call.
		if ($code < 0x400) {
			$open{$pid} = $name;
		} elsif ($open{$pid} && $open{$pid} eq $name) {
			$calls{$name}++;
			$errors{$name}++ if $args =~ /^= -\d+ E/;
			delete $open{$pid};
		}
		END { print substr($_, 4), " $calls{$_} ", $errors{$_} // 0, "\n" for keys %calls }' | sort >fkt.counts
	check 'strace counted something' [ -s strace.counts ]
	check "FKT ($*) counts as strace does" diff strace.counts fkt.counts
}

compare
compare --lanes 1
cat fkt.counts
