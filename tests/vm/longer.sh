# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
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
