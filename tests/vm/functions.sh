# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Any function: what fkt_record -F takes and refuses, and that it sees the same calls, in the same nesting, as the kernel's
# function_graph does at the same time.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

# What can't be traced is refused, and what can is listed, by fkt_record alone: once for each version is enough.
selections() {
	# What does not exist.
	expect 1 fkt_record -F tcp_sendmgs true
	one_sentence
	said '^fkt_record: -F tcp_sendmgs: no such function; did you mean tcp_send_?ms[gs]\?$'
	expect 1 fkt_record -F vfs_read,vfs_write true
	one_sentence
	said 'a list is not taken: -F once for each'
	expect 1 fkt_record -F 'no_such_thing_*' true
	one_sentence
	said "no function that can be traced matches"
	expect 1 fkt_record -F preempt_schedule_notrace true
	one_sentence
	said 'does not let ftrace hook it'
	expect 1 fkt_record -F __x64_sys_getpid true
	one_sentence
	said 'ftrace has this function by another name: -F __\w+_getpid$'
	expect 1 fkt_record -F '!vfs_*' true
	one_sentence
	expect 1 fkt_record -F vfs_read -F '!vfs_*' true
	one_sentence
	said 'leaves out all the functions that it names'
	expect 1 fkt_record -F '!do_sys_openat2' -F do_sys_openat2 -F nothing_like_it true
	check 'nothing is left behind' not [ -e trace_file ]

	# What can be traced, and how.
	expect 0 fkt_record --list-functions vfs_read
	check 'a name stands for itself' [ "$out" = vfs_read ]
	expect 0 fkt_record --list-functions 'ext4:ext4_*'
	check 'functions of a module' [ "$(grep -c ' \[ext4\]$' .out)" -gt 100 ]
	fkt_record -v --list-functions '*' >list
	check 'its arguments are known' grep -q '^vfs_read  *pair .*file.* buf.* count.* pos' list
	check 'the exit of do_exit() is not caught' grep -q '^do_exit  *entry .*does not return' list
	check 'a function with arguments on the stack has an exit' grep -q '^do_mmap  *copy ' list
	# Of a few the module is asked, of many ftrace's list is read: the same are hooked, whose names ftrace says.
	for glob in '__x64_sys_r*' 'ext4:ext4_*'; do
		fkt_record --list-functions "$glob" | sed 's/ .*//' | sort >listed
		expect 0 fkt_record -F "$glob" -o t cat $tracing/enabled_functions
		awk '/direct-->fkt_gate_called/ && name !~ /^fkt_gate_/ { print name } { name = $1 }' .out | sort >hooked
		check "-F '$glob' hooks what --list-functions '$glob' lists" diff listed hooked
	done
	check 'what FKT needs itself is never traced' grep -qE '^arch_irq_work_raise  *never .*(FKT itself|ftrace)' list
	check 'nor what ftrace leaves out' grep -q '^preempt_schedule_notrace  *never .*ftrace' list
}

# -F turns its own layer on, and nothing else but the process events.
expect 0 fkt_record --args -F 'vfs_*' -F '!vfs_open' -F '__x64_sys_close' -o t sh -c 'cat /etc/hostname; true'
check 'only what is asked for' not grep -qE '^[0-9]+ [0-9]+ 0[0-9a-f]{3} ' <(events t)
check 'what is left out is not there' not grep -q 'vfs_open' <(events t)
check 'arguments by their names' grep -qE ' vfs_read +file=0x[0-9a-f]+ buf=0x[0-9a-f]+ count=[0-9]+ pos=0x[0-9a-f]+$' <(events t)
check 'and the result' grep -qE ' vfs_read +=  ?[0-9]+$' <(events t)

# Arguments on the stack: do_mmap() has eight or nine, and gets wrong what it does when it doesn't find them.
expect 0 fkt_record -F do_mmap -o t sh -c 'ls -l /usr/include >/dev/null; cat /etc/hostname'
events t | perl -ne 'print "$1\n" if / do_mmap +=(.*)/' >mapped
check 'a function with arguments on the stack works' [ "$out" = "$(cat /etc/hostname)" ]
check 'it has an exit for each entry' [ "$(wc -l <mapped)" -gt 20 ]
check 'as many' [ "$(events t | grep -c ' do_mmap$')" = "$(wc -l <mapped)" ]
check 'which says where it has mapped' not grep -qvE "0x(55|56|7f)" mapped

# Only what is called below a function: reads, not writes, which call rw_verify_area() as well.
graphs() {
	dd if=/dev/zero of=f bs=4k count=40 2>/dev/null
	cat >below <<'END'
	my ($root, $limit) = @ARGV;
	my (%stack, %calls, $wrong);
	while (<STDIN>) {
		my ($pid, $name, $sign) = /^\d+ (\d+) [0-9a-f]{5} (\S+) *(=?)/ or next;
		my $stack = $stack{$pid} //= [];
		if ($sign) {
			$wrong .= "$name ends\n" if !@$stack || pop @$stack ne $name;
		} else {
			$wrong .= "$name is not below $root\n" if !@$stack && $root && $name ne $root;
			push @$stack, $name;
			$wrong .= "too deep: @$stack\n" if $limit && @$stack > $limit;
			$calls{$name}++;
		}
	}
	print $wrong // '', map { "$_ $calls{$_}\n" } sort keys %calls;
END
	copy='dd if=f of=g bs=4k 2>&1'
	expect 0 fkt_record -F rw_verify_area -F security_file_permission --graph vfs_read -o t sh -c "$copy"
	events t | perl below vfs_read | tee calls
	check 'only below vfs_read()' not grep -qE 'below|ends' calls
	check 'all that is' grep -qE '^rw_verify_area (4[0-9]|[5-9][0-9])$' calls
	check 'of three levels' grep -q security_file_permission calls
	expect 0 fkt_record -F 'vfs_*' -F rw_verify_area --graph-depth 1 -o t sh -c "$copy"
	events t | perl below '' 1 | tee calls
	check 'the depth alone' not grep -qE 'ends|deep' calls
	check 'from anywhere' grep -qE '^vfs_write (4[0-9]|[5-9][0-9])$' calls
	expect 1 fkt_record --graph do_exit true
	one_sentence
	said "^fkt_record: --graph do_exit: this function's exit is not traced: it does not return"
	expect 1 fkt_record --graph vfs_raed true
	one_sentence
	said '^fkt_record: --graph vfs_raed: no such function; did you mean vfs_read\?$'
	expect 2 fkt_record --graph-depth 0 true
}

# Nothing comes between: of a switch, what is called before the stacks change is listed with the next thread.
graph_of_all() {
	expect 0 chrt -f 50 fkt_record --args --graph vfs_read --graph-depth 2 -p 12 -o t sh -c "$copy"
	events t | perl below vfs_read 2 | tee calls
	check 'two levels of everything' [ "$(grep -c '^rw_verify_area\|^vfs_read' calls)" = 2 ]
	check 'and no more' not grep -qE 'below|ends|deep|security_file_permission' calls
}

# What a graph is made of, and what fkt_record refuses, has nothing to do with whether the kernel is a PREEMPT_RT one.
is_rt() {
	[[ $(uname -r) == *-rt-* ]]
}
is_rt || graphs

# The same calls as function_graph sees, for each thread of the command. On one CPU: of a thread that sleeps in a call and
# goes on elsewhere, function_graph prints the next end of such a call that its first CPU has in that one's place.
functions='vfs_read vfs_write rw_verify_area vfs_fsync_range vfs_open do_sys_openat2 vfs_getattr filp_close dput mntput fput'
echo nop >$tracing/current_tracer
echo 4096 >$tracing/buffer_size_kb
for function in $functions; do
	echo "$function"
done >$tracing/set_ftrace_filter
for option in proc tail; do
	echo 1 >$tracing/options/funcgraph-$option
done
echo function_graph >$tracing/current_tracer
echo 1 >$tracing/tracing_on
globs=()
for function in $functions; do
	globs+=(-F "$function")
done
expect 0 fkt_record "${globs[@]}" -o t taskset -c 1 sh -c \
	'dd if=/dev/zero of=f bs=4k count=20 conv=fsync 2>&1; ls -l /usr/include/s*.h; cat f >/dev/null; true'
echo 0 >$tracing/tracing_on
cat $tracing/trace >graph
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
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
# Of what is not there: which one, for the end of a long log.
! grep -q OTHERS compared || fail "$(grep -m 1 -A 1 OTHERS compared | tr -s '\n ' ' ')"
check 'the same calls in the same nesting' not grep -q OTHERS compared
check 'and there are many' [ "$(sed -n 's/ events are the same$//p' compared)" -gt 300 ]

# Everything, with room for it: nothing is lost, also where the scheduler is between two tasks' stacks. A kernel that watches over
# itself has some thirty times as much of it.
expect 0 fkt_record -p $((FKT_SLOW == 1 ? 14 : 16)) -F '*' -o t.all perl -e 'select undef, undef, undef, 0.001 for 1 .. 100'
check 'nothing is lost' [ "$(lost)" = 0 ]
# Some pages begin between the event of a switch and the switch: it tells of another one who was current by then.
fkt_print --no-summary --time=cycles t.all | head -200000 | perl -ne '
	push @last, $_;
	shift @last if @last > 12;
	next unless my ($cpu, $pid, $code) = /^ *-?\d+ +(\d+) +(\d+|\?) .{16} ([0-9a-f]{4,5})  /;
	if (defined $is{$cpu} && $is{$cpu} ne $pid) {
		$switched{$cpu} ? $n++ : print "of another one, without a switch, line $.: $_", map { "  behind: $_" } @last;
	}
	($is{$cpu}, $switched{$cpu}) = ($pid, $code eq "1100");
	END { print "$n switches\n" }' >switches
check 'there are switches' [ "$(sed -n 's/ switches$//p' switches)" -gt 10 ]
check 'events change from one to another by switches alone' not grep -A 12 another switches
rm -f t.all
check 'FKT does not trace itself' not grep -q fkt_gate .err

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

the_rest_takes_long
is_rt || { graph_of_all; selections; }
