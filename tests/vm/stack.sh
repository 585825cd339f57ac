# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# The kernel's stacks of events: those that ftrace and bpftrace have of the same events, frame by frame.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing

# with_ftrace COMMAND…: run it while ftrace traces the events in $events with their stacks, into the file ftrace.
events=()
with_ftrace() {
	local event

	echo nop >$tracing/current_tracer
	echo 1 >$tracing/tracing_on
	echo 16384 >$tracing/buffer_size_kb
	echo >$tracing/trace
	echo 1 >$tracing/options/stacktrace
	for event in "${events[@]}" sched/sched_process_exec; do
		echo 1 >"$tracing/events/$event/enable"
	done
	"$@"
	for event in "${events[@]}" sched/sched_process_exec; do
		echo 0 >"$tracing/events/$event/enable"
	done
	echo 0 >$tracing/options/stacktrace
	cat $tracing/trace >ftrace
}

# compare NAME EVENT COUNT PROCESS: the stacks of a process's events, in their order, here and there. While a program
# is being executed, its name is the kernel's before it is that of the events; and ftrace gives it to the process before that.
# An interrupt may find either of them at work: what of it is left out there is left out here.
compare() {
	fkt_print --no-summary --stack --format json --code "$1" t | PROCESS=$4 perl -ne '
		next unless /"process":"$ENV{PROCESS}","code"/ && /"stack":\[(.*)\]\}$/;
		print join(" ", grep { !/^(trace_event_raw_event_|__traceiter_)/ }
				map { /^"([^+"]+)/ ? $1 : () } split /,/, $1), "\n"' |
		grep -v execve >"fkt.$1"
	EVENT=$2 PROCESS=$4 perl -ne '
		if (/^ => (\S+)/) {
			push @frames, $1 unless $1 =~ /^(trace_event_raw_event_|__traceiter_|fkt_gate_returned)/;
		} elsif (/^\s*(\S.*)-(\d+)\s+\[(\d+)\].*?: (<stack trace>|\w+: )/) {
			push @stacks, [$of, "@frames\n"] if $on;
			@frames = ();
			$of = $2;
			# An interrupt may come between an event and its stack, with events of its own.
			if ($4 eq "<stack trace>") {
				$on = pop @{$wanted{$3}};
			} else {
				$on = 0;
				push @{$wanted{$3}}, $1 eq $ENV{PROCESS} && $4 eq "$ENV{EVENT}: ";
			}
			@stacks = grep { $_->[0] != $of } @stacks if $4 eq "sched_process_exec: ";
		}
		END { print map { $_->[1] } @stacks, $on ? [$of, "@frames\n"] : () }' ftrace | grep -v execve >"ftrace.$1"
	check "$1: there are stacks to compare" [ "$(wc -l <"ftrace.$1")" -ge "$3" ]
	check "$1: they are ftrace's" cmp "fkt.$1" "ftrace.$1"
	cmp -s "fkt.$1" "ftrace.$1" || diff "fkt.$1" "ftrace.$1" | head -20
}

cat >load <<'EOF'
for i in 1 2 3 4 5; do
	dd if=/dev/zero of=f$i bs=64k count=4 conv=fsync 2>/dev/null
done
EOF

echo '--- switches, wake-ups and any tracepoint: the frames of ftrace'
events=(sched/sched_switch sched/sched_waking block/block_rq_issue)
with_ftrace fkt_record -o t -e block:block_rq_issue --stack 'switch,wakeup,block:*' -- sh load
compare switch_to sched_switch 20 dd
compare wakeup sched_waking 5 dd
compare block:block_rq_issue block_rq_issue 5 dd
check 'modules have their names' grep -q 'ext4_sync_file+0x[0-9a-f]* \[ext4\]' <(fkt_print --stack --no-summary t)
check 'a stack stands more than once where it is the same, and takes 8 bytes then' \
	[ "$(fkt_print --no-summary --stack t | grep -c '^ *__schedule+')" -gt 20 ]
check 'events are those without stacks' [ "$(fkt_print --no-summary t | wc -l)" = \
	"$(fkt_print --no-summary --stack t | grep -vc '^ \{48\}')" ]

echo '--- the same beside bpftrace, to the byte'
# beside_bpftrace COMMAND…: run it while bpftrace prints the stacks of dd's events into the file bpftrace, and what it says into
# bpftrace.err. False, with why, where there is no bpftrace, or it does not attach here.
beside_bpftrace() {
	local tracer cpu

	command -v bpftrace >/dev/null || { echo 'left out: bpftrace is not installed (scripts/deps)'; return 1; }
	BPFTRACE_PERF_RB_PAGES=1024 bpftrace -k -B line -e '
		tracepoint:sched:sched_switch, tracepoint:sched:sched_waking, tracepoint:block:block_rq_issue
		/comm == "dd"/ { printf("stack %d %llu %s\n%s\n", tid, nsecs, probe, kstack); }
		tracepoint:sched:sched_process_exit /comm == "enough"/ { printf("enough\n"); }
		BEGIN { printf("ready\n"); }' >bpftrace 2>bpftrace.err &
	tracer=$!
	background+=("$tracer")
	# BEGIN is called when all else is attached, or just before.
	if ! wait_until 60 grep -q ready bpftrace; then
		kill -9 $tracer
		echo 'left out: bpftrace does not begin here:'
		cat bpftrace.err
		return 1
	fi
	sleep $((2 * FKT_SLOW))
	"$@"
	# What it has not printed when it is interrupted, it forgets.
	cp "$(type -P true)" enough
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		taskset -c $cpu ./enough
	done
	wait_until 60 all_printed || cat bpftrace.err
	kill -INT $tracer
	wait $tracer
}

# Whether bpftrace has come to the end on each CPU.
all_printed() {
	[ "$(grep -c '^enough' bpftrace)" = "$(nproc)" ]
}

# Each stack of dd's events in a line, thread by thread in their order. While a program is being executed, who it is is another
# matter (see compare); where bpftrace is woken, it does not look at itself; and of interrupts that find one of both tracers at
# work, bpftrace leaves some out. What begins where an address is has more than one name, and so have some functions: each has
# the first of those that no other function has.
in_lines() {
	grep -vE 'execve|perf_event_wakeup| (fkt_|perf_trace_|trace_call_bpf|__traceiter_)' | sed -E 's/ [^ ]+\+0( |$)/ +0\1/g' |
		perl -pe 'BEGIN {
			open my $in, "<", "aliases" or die "aliases: $!\n";
			while (<$in>) { my ($first, @others) = split; $first{$_} = $first for @others }
		} s/ \K([^ +]+)(?=\+)/$first{$1} \/\/ $1/ge' | sort -s -k 1,2
}

# The names of each function that has several, in a line.
aliases() {
	perl -ne '
		my ($address, $type, $name) = split;
		next unless $type =~ /[tTwW]/;
		$where{$name} = exists $where{$name} ? "" : $address;
		push @{$names{$address}}, $name;
		END {
			for (sort keys %names) {
				my $address = $_;
				my @own = grep { $where{$_} eq $address } @{$names{$address}};
				print join(" ", sort @own), "\n" if @own > 1;
			}
		}' /proc/kallsyms
}

aliases >aliases
if beside_bpftrace fkt_record -o t -e block:block_rq_issue --stack 'switch,wakeup,block:*' -- sh load; then
	fkt_print --no-summary --stack --format json -p +dd t | perl -ne '
		BEGIN { %event = qw(switch_to sched_switch wakeup sched_waking block:block_rq_issue block_rq_issue) }
		next unless /"tid":(\d+),"process":"dd".*?"name":"([^"]+)"/ && $event{$2};
		print "$1 $event{$2}";
		print map { /^"([^+"]+)\+0x([0-9a-f]+)/ ? " $1+" . hex $2 : " $_" } split /,/, $1 if /"stack":\[(.*)\]\}$/;
		print "\n"' | in_lines >fkt.all
	perl -ne '
		if (/^stack (\d+) (\d+) \S+:(\w+)$/) {
			push @stacks, { of => "$1 $3", at => $2 };
		} elsif (/^\s+(\S+\+\d+)/ && ($stacks[-1]{frames} || $1 !~ /^__traceiter_/)) {
			$stacks[-1]{frames} .= " $1";
		}
		END { print map { "$_->{of}$_->{frames}\n" } sort { $a->{at} <=> $b->{at} } @stacks }' bpftrace |
		in_lines >bpftrace.all
	refuse 'bpftrace lost none' grep -q Lost bpftrace bpftrace.err
	cut -d ' ' -f 2 bpftrace.all | sort | uniq -c
	for event in sched_switch sched_waking block_rq_issue; do
		check "$event: there are stacks to compare" [ "$(grep -c " $event " bpftrace.all)" -ge 5 ]
	done
	# bpftrace has no frames, and says so, of a stack for which its map has no room: another one has the same hash.
	check 'there are as many' [ "$(wc -l <fkt.all)" = "$(wc -l <bpftrace.all)" ]
	paste -d '|' fkt.all bpftrace.all >both.all
	grep -vE '\|[0-9]+ [a-z_]+$' both.all >both.some
	without=$(($(wc -l <both.all) - $(wc -l <both.some)))
	check "those without frames ($without) are those of which bpftrace says so" [ "$without" -le "$(grep -h get_stackid bpftrace bpftrace.err | grep -c -- '-17')" ]
	cut -d '|' -f 1 both.some >fkt.all
	cut -d '|' -f 2 both.some >bpftrace.all
	check "they are bpftrace's" cmp fkt.all bpftrace.all
	cmp -s fkt.all bpftrace.all || diff fkt.all bpftrace.all | head -20
fi

echo '--- summed up'
fkt_print --by stack -p +dd t >by
check 'threads are off the CPU where they wait' grep -q '^switch_to: .* off the CPU, ' by
check 'fsync waits for the journal' grep -q 'ext4_sync_file' by
sum=$(fkt_print --by stack --format csv t | awk -F, '$1 == "switch_to" { n += $2 } END { print n }')
check 'all switches are there' [ "$sum" = "$(fkt_print --no-summary --code switch_to t | grep -c switch_to)" ]
refuse 'with other fields: refused' fkt_print --by function,stack t
refuse 'without a listing: refused' fkt_print -q --stack t

the_rest_takes_long

echo '--- a part has the stacks of its events'
# called: without the switches that say which thread a CPU begins with, to itself: nobody has called these.
called() {
	grep -v '"prev":\([0-9]*\),.*"next":\1,'
}
for what in '--from 30ms --to 200ms' '--process dd' '--cpu 0'; do
	# shellcheck disable=SC2086 # two words
	fkt_extract $what -o part t
	fkt_print --no-summary --stack --format json --code switch_to,block:block_rq_issue part | called |
		sed -nE 's/.*("stamp":[0-9]+).*("cpu":[0-9]+).*("stack":.*)\}/\1 \2 \3/p' | sort >of_part
	fkt_print --no-summary --stack --format json --code switch_to,block:block_rq_issue t | called |
		sed -nE 's/.*("stamp":[0-9]+).*("cpu":[0-9]+).*("stack":.*)\}/\1 \2 \3/p' | sort >of_whole
	check "$what: there are some" [ -s of_part ]
	check "$what: they are those of the whole" [ "$(comm -23 of_part of_whole | wc -l)" = 0 ]
	refuse "$what: none is missing" grep -q '"stack":null' of_part
done
fkt_print --no-summary --stack --format json --threads 1 t >one
fkt_print --no-summary --stack --format json --threads 4 t >four
check 'several threads list the same' cmp one four

echo '--- functions: who has called them, through the gate'
events=(block/block_rq_issue)
with_ftrace fkt_record -o t -F vfs_fsync_range -F ext4_sync_file -F ext4_writepages -e block:block_rq_issue \
	--stack 'functions,block*' -- sh load
compare block:block_rq_issue block_rq_issue 5 dd
fkt_print --no-summary --stack --code ext4_sync_file -p +dd t >functions
check 'the first frame is the function' grep -q '^ *ext4_sync_file+' functions
check 'its caller is who calls it' grep -qE '^ *(vfs_fsync_range|do_fsync|__x64_sys_fsync)\+' functions
refuse 'the gate is not to be seen' grep -q fkt_gate functions
check 'an exit has none' [ "$(grep -c '^ *ext4_sync_file+' functions)" = 5 ]

echo '--- one lane, a ring, addresses, system calls'
expect 0 fkt_record -o t --lanes 1 --stack switch,wakeup -- sh load
check 'one lane: all switches have stacks' [ "$(fkt_print --no-summary --format json --stack --code switch_to t |
	called | grep -vc '"stack":\["')" = 0 ]
expect 0 fkt_record -o t --ring 1M --stack switch,wakeup -k system -- sh -c '. ./load; . ./load'
check 'a ring: all switches have stacks' [ "$(fkt_print --from 0 --no-summary --format json --stack --code switch_to t | called | grep -vc '"stack":\["')" = 0 ]
expect 0 fkt_record -o t -k system --args --stack 'sys_fsync,sys_write' -P 'p:probed ext4_sync_file' --stack probed -- sh load
check 'system calls' grep -q 'sys_fsync' <(fkt_print --no-summary --stack --code sys_fsync t)
check 'their stacks' grep -q '^ *do_syscall_64+' <(fkt_print --no-summary --stack --code sys_fsync t)
check 'an address' grep -q '^ *ext4_sync_file+' <(fkt_print --no-summary --stack --code probed t)
fkt_record -o t --stack nonsense -- true 2>said
check 'an event that is none' grep -q 'no event of that name' said

echo '--- by stack: one filter for all views; waits are those of --waits'
expect 0 fkt_record -o t --stack switch,wakeup -- sh load
# off_cpu OPTION…: how long threads were off the CPU, by stack and by wait, in ns. New threads have left no CPU.
off_cpu() {
	fkt_print --by stack --format json "$@" t | perl -ne '
		$n += $1 if /"event":"switch_to".*"sum_ns":(\d+)/; END { printf "%d", $n }'
}
for what in '' '--cpu 0' '--process !dd' '--process dd' '--range 20ms..120ms' '--cpu 1 --range 20ms..120ms'; do
	# shellcheck disable=SC2086 # several words
	waits=$(fkt_print --waits --format json $what t | perl -ne '
		/"sum_ns":(\d+)/ or next; $n += $1;
		$n += $2 * $1 if /"count":(\d+).*"ready_average_ns":(\d+)/; END { printf "%d", $n }')
	# shellcheck disable=SC2086 # several words
	by=$(off_cpu $what)
	check "${what:-all}: $by ns by stack, $waits ns by wait" [ "$by" -gt 0 -a $((by * 100)) -ge $((waits * 95)) -a \
		$((by * 100)) -le $((waits * 105)) ]
done

echo '--- an interrupt that ends, and has come to who takes a stack'
expect 0 fkt_record -o t -F idle_cpu -e sched:sched_waking -e raw_syscalls:sys_enter \
	--stack 'idle_cpu,sched:sched_waking,raw_syscalls:sys_enter' calls -s 3
fkt_print --no-summary --stack --format json t | grep -E '"name":"(idle_cpu|sched:sched_waking)"' | grep -v '"args":{"ret":' >ends
check 'interrupts came' [ "$(wc -l <ends)" -gt 100 ]
check "$(grep -c '"stack":null' ends) of $(wc -l <ends) have no stack" [ "$(grep -c '"stack":null' ends)" = 0 ]

echo '--- the unwinder itself is not traced where it is used'
expect 0 timeout 200 fkt_record -p 12 -o t -F '__un*' -F '__rcu_*' -F 'in_*' -F 'vfs_*' --stack switch,functions -- sh load
refuse 'it is not there' grep -qE '__unwind_start|in_gate_area_no_mm|__rcu_read_(un)?lock' <(fkt_print -q t)

# Nothing of it is recorded; that is said at once.
fkt_record -o t --stack vfs_read -- true 2>off.err
check 'events of a layer that is off: recorded' [ $? = 0 ]
check 'and said' grep -q -- '--stack vfs_read: that is recorded with -k [a-z,]*files[a-z,]* alone' off.err
fkt_record -k system,files -o t --stack vfs_read -- true 2>on.err
check 'events of one that is on: nothing is said' [ "$(grep -c -- --stack on.err)" = 0 ]
