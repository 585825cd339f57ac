# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# Any function: what fkt_record -F takes and refuses, and that it sees the same calls, in the same nesting, as the kernel's
# function_graph does at the same time.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

# What does not exist.
expect 1 fkt_record -F tcp_sendmgs true
one_sentence
said '^fkt_record: -F tcp_sendmgs: no such function; did you mean tcp_send_?ms[gs]\?$'
expect 1 fkt_record -F 'no_such_thing_*' true
one_sentence
said "no function that can be traced matches"
expect 1 fkt_record -F preempt_schedule_notrace true
one_sentence
said 'does not let ftrace hook it'
expect 1 fkt_record -F '!vfs_*' true
one_sentence
expect 1 fkt_record -F '!do_sys_openat2' -F do_sys_openat2 -F nothing_like_it true
check 'nothing is left behind' not [ -e trace_file ]

# What can be traced, and how.
expect 0 fkt_record --list-functions vfs_read
check 'a name stands for itself' [ "$out" = vfs_read ]
expect 0 fkt_record -v --list-functions vfs_read
check 'its arguments are known' grep -q '^vfs_read  *pair .*file.* buf.* count.* pos' .out
expect 0 fkt_record -v --list-functions do_exit
check 'the exit of do_exit() is not caught' grep -q '^do_exit  *entry .*does not return' .out
expect 0 fkt_record --list-functions 'ext4:ext4_*' 
check 'functions of a module' [ "$(grep -c ' \[ext4\]$' .out)" -gt 100 ]

# -F turns its own layer on, and nothing else but the process events.
expect 0 fkt_record --args -F 'vfs_*' -F '!vfs_open' -F '__x64_sys_close' -o t sh -c 'cat /etc/hostname; true'
check 'only what is asked for' not grep -qE '^[0-9]+ [0-9]+ 0[0-9a-f]{3} ' <(events t)
check 'what is left out is not there' not grep -q 'vfs_open' <(events t)
check 'arguments by their names' grep -qE ' vfs_read +file=0x[0-9a-f]+ buf=0x[0-9a-f]+ count=[0-9]+ pos=0x[0-9a-f]+$' <(events t)
check 'and the result' grep -qE ' vfs_read +=  ?[0-9]+$' <(events t)

# The same calls as function_graph sees, for each thread of the command.
functions='vfs_read vfs_write rw_verify_area vfs_fsync_range vfs_open do_sys_openat2 vfs_getattr filp_close dput mntput fput'
echo nop >$tracing/current_tracer
echo 16384 >$tracing/buffer_size_kb
for function in $functions; do
	echo "$function"
done >$tracing/set_ftrace_filter
for option in proc tail; do
	echo 1 >$tracing/options/funcgraph-$option
done
echo function_graph >$tracing/current_tracer
globs=()
for function in $functions; do
	globs+=(-F "$function")
done
expect 0 fkt_record "${globs[@]}" -o t sh -c \
	'dd if=/dev/zero of=f bs=4k count=100 conv=fsync 2>&1; find /usr/include/linux -name "b*" | sort; cat f >/dev/null; true'
echo 0 >$tracing/tracing_on
cat $tracing/trace >graph
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
echo 1 >$tracing/tracing_on
events t >events.fkt
check 'function_graph has lost nothing' not grep -q 'CPU:.*LOST' graph
check 'functions could be hooked' not grep -q 'could not be hooked' .err
perl - $functions <<'END' >compared
	my %wanted = map { $_ => 1 } @ARGV;
	my (%fkt, %graph, %begun);

	open my $in, '<', 'events.fkt' or die;
	while (<$in>) {
		my ($pid, $code, $name, $sign) = /^\d+ (\d+) ([0-9a-f]+) (\S+) *(=?)/ or next;
		$begun{$pid} = 1 if $code eq '1104';
		push @{$fkt{$pid}}, ($sign ? '-' : '+') . $name if $wanted{$name};
	}
	open $in, '<', 'graph' or die;
	while (<$in>) {
		next unless /^ *\d+\) +\S.*?-(\d+) +\|.*?\|  ( *)(.*?)\s*$/;
		my ($pid, $what) = ($1, $3);
		if ($what =~ /^(\w+)\(\);/) {
			push @{$graph{$pid}}, "+$1", "-$1";
		} elsif ($what =~ /^(\w+)\(\) \{/) {
			push @{$graph{$pid}}, "+$1";
		} elsif ($what =~ m|^\} /\* (\w+)|) {
			push @{$graph{$pid}}, "-$1";
		}
	}
	# The threads that began while both were tracing: those that were executed after the first one.
	my ($first) = sort { $a <=> $b } keys %begun;
	my $same = 0;
	for my $pid (sort { $a <=> $b } grep { $_ != $first } keys %begun) {
		my ($a, $b) = ("@{$fkt{$pid}}", "@{$graph{$pid}}");
		my ($calls) = scalar @{$fkt{$pid}};
		print "thread $pid: $calls events, ", $a eq $b ? "the same" : "OTHERS", "\n";
		for my $i (0 .. $calls) {
			next if $fkt{$pid}[$i] eq $graph{$pid}[$i];
			print "  at $i: $fkt{$pid}[$i], function_graph $graph{$pid}[$i]\n";
			last;
		}
		$same += $calls if $a eq $b;
	}
	print "$same events are the same\n";
END
cat compared
check 'the same calls in the same nesting' not grep -q OTHERS compared
check 'and there are many' [ "$(sed -n 's/ events are the same$//p' compared)" -gt 1000 ]

# A traced module goes, and comes again.
if modprobe dummy 2>/dev/null && rmmod dummy; then
	modprobe dummy
	start_recorder -n -F 'dummy:*' -F vfs_read -o t.module -k system
	check 'a module goes while it is traced' rmmod dummy
	check 'it comes again' modprobe dummy
	check 'and goes' rmmod dummy
	stop_recorder
	check 'the recording ends well' [ "$status" = 0 ]
	check 'the other functions were traced on' [ "$(events t.module | grep -c ' vfs_read ')" -gt 10 ]
fi

# All at once, for a moment: the kernel lives, and lets the module go.
begin=$SECONDS
expect 0 fkt_record -F '*' -p 12 -o t sh -c 'ls -l /usr/include >/dev/null; dd if=/dev/zero of=g bs=64k count=20 conv=fsync 2>&1'
echo "recorded in $((SECONDS - begin)) s"
check 'many thousand events' [ "$(recorded)" -gt 100000 ]
check 'nothing was refused' not grep -q 'could not be hooked' .err
wait_until 20 idle
check 'nobody is left inside' idle
check 'the module can be removed' rmmod fkt
check 'and loaded again' insmod /run/fkt-vm/fkt.ko
