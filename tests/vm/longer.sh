# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# Calls that are recorded only if they take long: a program says when its long calls began and ended, and exactly these are
# there, and none of its thousands of short ones; the same by functions, in streams, in snapshots, and of what does not end.

. "$TOP/tests/vm/lib.sh"

# What is in a trace, a line each: "NAME TID BEGIN END RESULT DEPTH WHOLE".
spans() {
	fkt_print --spans --format=csv --time=cycles "$1" | perl -ne '
		s/"(?:[^"]|"")*"//g;
		my @f = split /,/;
		print join(" ", @f[13, 9, 0, 2], $f[15] eq "" ? "-" : $f[15], $f[11], $f[17])
			if $f[0] =~ /^\d/;'
}

# The program's own lines, beside those spans: each call has its own, within the moments that the program had before and
# after it. One that a signal has ended returns something else to the kernel than to the program, and may go on by another.
cat >compare.pl <<'END'
	my ($told, $spans) = @ARGV;
	my (%of, $wrong, $n, %used);
	open my $in, "<", $spans or die;
	while (<$in>) {
		chomp;
		my ($name, $tid, $begin, $end, $result, $depth, $whole) = split / /;
		next unless $name =~ /^sys_/;
		push @{$of{$tid}}, [$name, $begin, $end, $result, $depth, $whole, $_];
	}
	open $in, "<", $told or die;
	while (<$in>) {
		chomp;
		my ($name, $tid, $begin, $end, $result) = split / /;
		my @in = grep { $_->[1] >= $begin && $_->[2] <= $end && $_->[4] == 0 } @{$of{$tid}};
		my $last = $in[-1];
		$n++;
		$used{$_->[6]}++ for @in;
		next if @in == 1 && $in[0][0] eq "sys_$name" && $in[0][5] == 1 &&
			($in[0][3] == $result || ($result == -4 && $in[0][3] == -516));
		next if @in > 1 && $in[0][0] eq "sys_$name" && $in[0][3] == -516 &&
			$last->[0] eq "sys_restart_syscall" && $last->[3] == $result;
		print "not as told: $_: ", join(" | ", map { $_->[6] } @in), "\n";
		$wrong = 1;
	}
	for my $tid (keys %of) {
		for (@{$of{$tid}}) {
			next unless $_->[0] eq "sys_nanosleep" && !$used{$_->[6]};
			print "nobody told of: $_->[6]\n";
			$wrong = 1;
		}
	}
	print "$n calls\n";
	exit($wrong || $n < 20);
END

# none_short FILE SPANS: all calls that are whole took longer than 10 ms, and there is nothing of the short ones.
none_short() {
	local limit

	limit=$(strings -n 8 "$1" | sed -n 's/^longer_than_cycles=//p' | head -1)
	check 'the trace says what was asked for' [ "${limit:-0}" -gt 0 ]
	check 'no call is shorter' awk -v limit="${limit:-0}" '
		$NF == 1 && $1 !~ /^(irq|softirq|local_timer|vector|[a-z_]*(interrupt|single|function|irq_work|reschedule))/ &&
			$1 ~ /^(sys_|hrtimer_|vfs_)/ && $4 - $3 <= limit { print; bad = 1 }
		END { exit bad }' "$2"
	# One of them takes long when the machine does something else meanwhile: it is there, whole.
	check 'nothing is there of short calls' awk -v there="$(events "$1" | grep -cE ' (sys_getppid|sys_gettid)( |$)')" -v limit="${limit:-0}" '
		$1 ~ /^sys_(getppid|gettid)$/ && $NF == 1 && $4 - $3 > limit { there -= 2 }
		END { exit there != 0 }' "$2"
}

for lanes in cpu 1; do
	expect 0 fkt_record --longer-than 10ms --args --lanes $lanes -F hrtimer_nanosleep -F vfs_read -k system,functions \
		-o trace "$(command -v long_calls)"
	grep -E '^[a-z]+ [0-9]+ ' .out >told
	few=$(recorded)
	check "nothing was lost ($lanes)" [ "$(lost)" = 0 ]
	spans trace >spans
	check "each long call is there, as the program saw it ($lanes)" perl compare.pl told spans
	none_short trace spans
	check "in each sleep there is the function that sleeps ($lanes)" awk '
		$1 == "sys_nanosleep" { calls++; begin[$2] = $3; end[$2] = $4 }
		$1 == "hrtimer_nanosleep" && $6 == 1 && $3 >= begin[$2] && $4 <= end[$2] { functions++ }
		END { print calls, functions; exit !(calls && calls == functions) }' spans
	check "arguments are there ($lanes)" [ "$(events trace | grep -c ' sys_nanosleep *rqtp=0x')" -ge 20 ]
done

# The same program once more, all of it: the same long calls.
expect 0 fkt_record -F hrtimer_nanosleep -F vfs_read -k system,functions -o plain "$(command -v long_calls)"
check 'nothing was lost of all' [ "$(lost)" = 0 ]
names() {
	perl -ne 'print "$1\n" if /^(sys_nanosleep|sys_restart_syscall|hrtimer_nanosleep) /' | sort | uniq -c
}
fkt_print --spans --longer-than=10ms --format=csv --time=cycles plain | perl -ne '
	s/"(?:[^"]|"")*"//g; my @f = split /,/; print "$f[13] \n"' | names >plain.names
names <spans >longer.names
check 'as many as of all calls are long' diff plain.names longer.names
check 'there are any' [ -s plain.names ]
check 'the summary says what is not there' grep -qE '^calls +that took no longer than 10(\.000)? ms were not recorded' <(fkt_print -q trace | tr C c)
fkt_print --calls trace 2>&1 >/dev/null | grep . >said
check 'and other tables' grep -q 'calls that took no longer than 10.000 ms were not recorded' said
check 'of all calls nothing is said' not grep -q 'no longer than' <(fkt_print -q plain 2>&1; fkt_print --calls plain 2>&1)
check 'much less was recorded' [ "$few" -lt $(($(recorded) / 2)) ]

# A part of it is a trace without anything that is told late.
expect 0 fkt_extract --from 0 -o part trace
spans part >part.spans
check 'a part has the same calls' diff <(grep ' sys_\|^sys_\|^hrtimer' spans) <(grep ' sys_\|^sys_\|^hrtimer' part.spans)

# What does not end is told when the recording does, or its thread; and in a snapshot.
start_recorder -n --longer-than 50ms -F hrtimer_nanosleep -k system,functions -o open
sleep 100 &
sleeper=$!
sleep 0.3
sleep 0.2
stop_recorder
check 'exit status' [ "$status" = 0 ]
spans open >open.spans
check 'a call that is open in the end is there, and not left' grep -qE "^sys_clock_nanosleep $sleeper .* - 0 0$" open.spans
check 'so is the function' grep -qE "^hrtimer_nanosleep $sleeper .* 1 0$" open.spans
kill $sleeper
check 'one that ended has ended' grep -qE '^sys_clock_nanosleep [0-9]+ [0-9]+ [0-9]+ 0 0 1$' open.spans

start_recorder -n --ring 8M --longer-than 50ms -o ring
sleep 100 &
sleeper=$!
sleep 0.3
expect 0 fkt_snapshot -o snapshot
stop_recorder
spans snapshot >snapshot.spans
check 'a snapshot has what is open' grep -qE "^sys_clock_nanosleep $sleeper .* - 0 0$" snapshot.spans
kill $sleeper

# Signals and their returns, forks, execs and filters: the end of a call stands alone only where a thread is seen first.
cat >alone.pl <<'END'
	while (<STDIN>) {
		my ($cpu, $pid, $code, $name, $rest) = split " ", $_, 5;
		$code = hex $code;
		next if $pid !~ /^\d+$/ || $code >= 0x800;
		my $exit = $code >= 0x400;
		if ($exit && !$open{$pid} && $seen{$pid}++) { print "$pid: the end of $name alone\n"; $wrong = 1 }
		if (!$exit && $open{$pid}) { print "$pid: $name begins in $open{$pid}\n"; $wrong = 1 }
		$seen{$pid} = 1;
		$open{$pid} = $exit ? 0 : $name;
		$n++;
	}
	exit($wrong || !$n);
END
check 'no end stands alone' perl alone.pl <<<"$(events trace)"
expect 0 fkt_record --longer-than 2ms -p 10 -o signals perl -e '
	$SIG{ALRM} = sub { getppid };
	use Time::HiRes "ualarm";
	ualarm(3000, 3000);
	for (1 .. 15) {
		select undef, undef, undef, 0.02;
		if (!fork) { select undef, undef, undef, 0.01; exec "true" }
		wait;
	}
	ualarm(0)'
check 'nor where signals come all the time' perl alone.pl <<<"$(events signals)"
check 'nothing was lost of that' [ "$(lost)" = 0 ]

# A trigger is about all calls, whatever is kept of them.
rm -f ring ring.*
expect 0 fkt_record --ring 8M --longer-than 50ms -o ring --trigger 'sys_exit:write ret==-ENOSPC' -- sh -c 'sleep 0.1; echo x >/dev/full; sleep 0.1'
check 'a short call fires a trigger' grep -q 'triggered by sys_exit:write' .err
check 'what was before is there' grep -q 'sys_clock_nanosleep' <(fkt_print --no-summary --from 0 ring.1)

# Who is left out leaves nothing, and who is turned off: what is open then is not taken for what comes later.
expect 0 fkt_record --longer-than 10ms --only-command -o filtered sh -c 'sleep 0.05'
check 'the command is there' grep -q '^sys_clock_nanosleep .* 0 0 1$' <(spans filtered)
start_recorder -n --longer-than 300ms -o masked
(sleep 0.2; for _ in 1 2 3 4 5 6 7 8; do sleep 0.05; done) &
sleeper=$!
sleep 0.1
check 'turned off' fkt_disable system
sleep 0.3
check 'and on' fkt_enable system
wait $sleeper
stop_recorder
spans masked >masked.spans
check 'no call is longer than it was' [ "$(grep -c '^sys_clock_nanosleep .* 1$' masked.spans)" = 0 ]

# A stream tells of calls when they end; for how long they were on a CPU it does not.
fkt_record --longer-than 10ms --args -o - sh -c 'sleep 0.05' 2>/dev/null | cat >stream
cat stream | fkt_print --spans - >stream.spans
check 'a stream has the call' grep -q 'sys_clock_nanosleep(.*) = 0' stream.spans
check 'its listing has it' grep -q 'began .* sys_clock_nanosleep .*arg2=0x' <(cat stream | fkt_print --no-summary -)

the_rest_takes_long

# Where events are lost, calls are missing, or an end of theirs is, and no more of them than events were counted; of what is there nothing
# is wrong. The reader of a pipe that does not read has it so; each call has a number of its own.
cat >numbered_long <<'END'
	my $epoll = syscall 291, 0;
	my $buffer = "\0" x 16;
	syscall 232, $epoll, $buffer, $ARGV[0] * 10000 + $_, 1 for $ARGV[1] .. $ARGV[2];
END
cat >many_long <<'END'
	touch begun
	for i in 1 2 3 4 5 6; do perl numbered_long $i 1 2000 & done
	wait
	touch half
	for i in 1 2 3 4 5 6; do perl numbered_long $i 2001 3000 & done
	wait
END
# It reads what stands before the pages, and then nothing until the first half of the calls is made.
cat >pausing_reader <<'END'
	while (sysread STDIN, my $read, 65536) {
		print $read;
		next if $paused or !-e "begun";
		$paused = 1;
		select undef, undef, undef, 0.1 until -e "half";
	}
END
rm -f begun half
fkt_record --longer-than 500us --args -k system -p 2 -o - sh many_long 2>.err | perl pausing_reader >lossy
cat .err
lost=$(lost)
fkt_print --spans lossy 2>lossy.said | sed -nE 's/.* sys_epoll_wait\(.*maxevents=([0-9]+),.*\) = 0.*/\1/p' >lossy.numbers
echo "$(wc -l <lossy.numbers) of 18000 calls are told, $lost events were lost"
check 'events were lost' [ "$lost" -gt 1000 ]
check 'and calls are there' [ "$(wc -l <lossy.numbers)" -gt 100 ]
check 'each once' diff <(sort -n lossy.numbers) <(sort -nu lossy.numbers)
check 'what was made is told, or among what was counted' [ $((18000 - $(wc -l <lossy.numbers))) -le "$lost" ]
check 'not all are' [ "$(wc -l <lossy.numbers)" -lt 18000 ]
spans lossy >lossy.spans
check 'no call is shorter, and none lasts over what was lost' awk -v khz="$(strings -n 8 lossy | sed -n 's/^tsc_khz=//p' | head -1)" '
	$1 == "sys_epoll_wait" && $NF == 1 { n++; ms = ($4 - $3) / khz; if (ms <= 0.5 || ms > 500) { print; bad = 1 } }
	END { exit bad || n < 100 }' lossy.spans
check 'the listing says where events were lost' grep -qE '^\*\*\* .*lost' <(fkt_print --no-summary lossy)
check 'the summary says how many' [ "$(summary lossy Lost | sed -nE 's/^([0-9]+) .*/\1/p' | head -1)" = "$lost" ]
check 'other tables say so' grep -q "$lost events were lost" <(fkt_print --calls lossy 2>&1 >/dev/null)

# A thread that dies ends its calls within what the kernel tells of its last switch by, which returns all the same.
expect 0 fkt_record --longer-than 500ms -F '__traceiter_sched_*' -k system,functions -o dying sh -c 'for i in 1 2 3 4 5 6 7 8; do (true); done'
check 'nothing was lost of that' [ "$(lost)" = 0 ]
spans dying >dying.spans
check 'what is within the end of a thread is no long call' not grep '^__traceiter' dying.spans
check 'nor is any told of it' not grep -q ' began .*__traceiter' <(events dying)

# Many functions, many tasks.
expect 0 fkt_record --longer-than 1ms -F 'vfs_*' -F 'do_*' -F '*sched*' -k system,functions -o many sh -c '
	for i in 1 2 3 4; do (ls -l /usr/include/linux /usr/include/x86_64-linux-gnu >/dev/null; sleep 0.01) & done; wait'
check 'nothing was lost of many' [ "$(lost)" = 0 ]
check 'all of them are well-formed' [ "$(fkt_print -q many 2>&1 >/dev/null | wc -l)" = 0 ]

expect 1 fkt_record --longer-than 1ms --strings -o no true
one_sentence
said 'do not go together'
expect 1 fkt_record --longer-than 1ms --stack 'sys_*' -o no true
one_sentence
said 'calls have no stack with --longer-than'
expect 2 fkt_record --longer-than soon -o no true
said "'soon' is not a time"
expect 0 fkt_record --longer-than 1ms --stack switch -o stacks true
