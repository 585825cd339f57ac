# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# What a recording of find has in it: the events of the command from its exec to its end, in an order that makes sense; and
# what fkt_record and fkt_print say about it.

. "$TOP/tests/vm/lib.sh"

umask 022
expect 0 fkt_record find /usr/include -name '*.h'
check 'find found something' [ "$(wc -l <.out)" -gt 100 ]
check 'the default name is trace_file' [ -s trace_file ]
check 'it is for its owner alone' [ "$(stat -c %a trace_file)" = 600 ]
check 'the summary is one line' [ "$(wc -l <.err)" = 1 ]
said '^fkt_record: trace_file: [0-9]+ events, [0-9]+ pages \([0-9.]+ [KM]B\) in [0-9.]+ s, 0 lost; flush thread [0-9.]+ %, synchronizing thread [0-9.]+ % of a CPU$'
recorded=$(recorded)

events trace_file >events
check "fkt_print lists the $recorded events" [ "$(grep -vc '^\*' events)" = "$recorded" ]
check 'nothing is missing' not grep -q '^\*\*\*' events
pid=$(perl -ne 'print "$1\n" if /^\S+ \S+ 1104 exec  *find\[(\d+)\]/ || /^\S+ (\d+) 1104 exec .*\bfind\b/' events | head -1)
check 'find was executed' [ -n "$pid" ]
for call in execve openat newfstatat getdents64 fcntl close write brk mmap exit_group; do
	check "find calls $call" grep -qE "^[0-9]+ $pid 0[0-3][0-9a-f]{2} sys_$call( |\$)" events
done
check 'an openat() succeeds' grep -qE "^[0-9]+ $pid 0501 sys_openat += [0-9]+$" events
check 'an access() says ENOENT' grep -qE "^[0-9]+ $pid 0415 sys_access += -2 ENOENT$" events
check 'find exits, with code 0' grep -qE "^[0-9]+ $pid 1105 exit +find\[$pid\] code=0x0$" events
check 'and its pid is released' grep -qE "^[0-9]+ [0-9]+ 1106 release +find\[$pid\] tgid=$pid$" events
check 'page faults' grep -qE "^[0-9]+ $pid 1005 page_fault_user +error=[0-9]+ address=0x[0-9a-f]+ ip=0x[0-9a-f]+$" events
check 'switches' grep -qE "^[0-9]+ $pid 1100 switch_to " events
check 'the local timer' grep -qE '^[0-9]+ [0-9]+ 1080 local_timer$' events
perl -ne '
	# Per thread: each exit is that of the call before; exec, exit and release in this order.
	next unless /^\d+ (\d+) ([0-9a-f]+) (\S+) *(.*)/;
	my ($pid, $code, $name) = ($1, hex $2, $3);
	if ($code < 0x400) {
		print "$pid: $name inside of $in{$pid}\n" if $in{$pid};
		$in{$pid} = $name;
	} elsif ($code < 0x800) {
		print "$pid: $name ends, not $in{$pid}\n" if $in{$pid} && $in{$pid} ne $name && $code != 0x7ff;
		delete $in{$pid};
	}
	$seen{$name}++ if $pid == '"$pid"' && $name =~ /^(exec|exit)$/;
	print "exit before exec\n" if $name eq "exit" && $pid == '"$pid"' && !$seen{exec};' events >disorder
check 'calls and returns of each thread pair' [ ! -s disorder ]
head disorder

fkt_print -q --time=cycles trace_file >summary
sed -n 1,12p summary
# The table of threads.
sed -n "/^ *Pid Process/,/^$/p" summary >processes
cat processes
check 'the summary has the command' grep -qF "find /usr/include -name '*.h'" summary
check 'the summary has the kernel' grep -qF "$(uname -r)" summary
check 'the summary has the sum of events' grep -qE "^Events +$recorded in " summary
check 'the summary has the process' grep -qE "^ *$pid find +[0-9]+ cyc .*%" processes
for cpu in $(seq 0 $(($(nproc) - 1))); do
	check "the summary has CPU $cpu's idle time" grep -qE "^ *0 idle/$cpu +[0-9]+ cyc .*%" processes
done
# The time of all threads is that of all CPUs.
perl -e '
	my ($cpus, $summary, $processes) = @ARGV;
	open my $in, "<", $summary;
	while (<$in>) {
		$cycles = $1 if /^Duration .* (\d+) cycles\b/;
	}
	open $in, "<", $processes;
	while (<$in>) {
		$total = $1 if /^ *- total +(\d+) cyc /;
		$sum += $1 if /^ *\d+ .*? (\d+) cyc +[\d.]+%/;
	}
	print "$cycles cycles on $cpus CPUs, total $total, sum $sum\n";
	exit !($sum == $total && $total <= $cycles * $cpus && $total > 0.9 * $cycles * $cpus)' "$(nproc)" summary processes
check 'the times of the threads add up to that of the CPUs' [ $? = 0 ]
