# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 600 s
#
# Events that programs write themselves: each is there, or counted as lost, between the system calls that surround it; in
# threads, signal handlers, after fork, exec and kill; and beside a program that does to its pages what it likes.

. "$TOP/tests/vm/lib.sh"

# info KEY: what the trace's end says.
info() {
	strings -n 4 trace | sed -n "s/^$1=//p" | tail -1
}

# told NAME: how many events with this name there are; of some it is not known who ran there, where a switch was lost.
told() {
	events trace | awk -v name="$1" '$4 == name || ($4 == "application" && index($0, "what=" name " ")) { n++ } END { print n + 0 }'
}

# What is made of the events of one program: a number for each thread, from 1 on, and none twice.
cat >numbers.pl <<'END'
	my ($count, $threads, $least) = splice @ARGV;
	my ($n, %next) = 0;
	while (<STDIN>) {
		next unless /app:numbered +thread=(\d+) number=(\d+)/;
		die "thread $1: $2 after $next{$1}\n" if $2 <= ($next{$1} // 0);
		$next{$1} = $2;
		$n++;
	}
	print "$n of ", $count * $threads, "\n";
	exit !($n >= $least && $n <= $count * $threads);
END

# Between two close() of a thread with the same number there is the event with that number, and nothing but that.
cat >between.pl <<'END'
	my ($count, $threads, %open, $n) = @ARGV;
	while (<STDIN>) {
		my $p = (split)[1];
		if (/ sys_close +fd=(0x4[0-9a-f]+|\d{10})/) {
			my $text = $1;
			my $number = $text =~ /^0x/ ? hex $text : $text;
			next unless $number >> 24 >= 0x40 && $number >> 24 < 0x44;
			if (defined $open{$p} && $open{$p}[0] == $number) {
				die "$number: no event\n" unless $open{$p}[1] == 1;
				$n++;
				delete $open{$p};
			} else {
				die "$number: within $open{$p}[0]\n" if defined $open{$p};
				$open{$p} = [$number, 0];
			}
		} elsif (/app:numbered +thread=(\d+) number=(\d+)/) {
			my $number = 0x40000000 | $1 << 24 | $2;
			die "$number: outside of its calls\n" unless defined $open{$p} && $open{$p}[0] == $number;
			$open{$p}[1]++;
		}
	}
	print "$n events\n";
	exit !($n == $count * $threads);
END

check 'the device is for root' [ "$(stat -c %a:%U /dev/fkt_user)" = 600:root ]

# Nobody records, or may not: nothing is said, and nothing is seen.
expect 0 app_events quiet 1000
check 'nothing is said when nobody records' [ -z "$out$err" ]
cp "$(command -v app_events)" .
run setpriv --reuid 65534 --clear-groups ./app_events quiet 1000
check 'one who may not open the device hears nothing' [ "$status:$out$err" = 0: ]

expect 0 fkt_record -k system,application --args -o trace app_events calls 500
check 'nothing was lost' [ "$(lost)" = 0 ]
check 'each event is between the calls that surround it' perl between.pl 500 4 < <(events trace)
check 'the number is in the end' [ "$(info application_events)" = 2000 ]
expect 0 fkt_extract --from 0 -o part trace
check 'so it is in a part' perl between.pl 500 4 < <(events part)
check 'the layer can be chosen' [ "$(fkt_print --no-summary --layer application trace | grep -c app:numbered)" = 2000 ]

expect 0 fkt_record -k system,application -o trace app_events spans 100
check 'a name with a space is none that is lost' not grep 'events were lost' .err
check 'spans are calls, in each other' [ "$(fkt_print --by function,caller --format csv trace |
	awk -F, '/^(sys_getppid,app:inner|app:inner,app:outer_span|app:outer_span,)/ { print $3 }' | xargs)" = '100 100 100' ]

for how in burst filter signals leap; do
	threads=1
	filter=()
	program=$how
	case $how in
	burst)	threads=4 ;;
	# Threads that have ended when their events are taken.
	filter)	threads=4
		program=burst
		filter=(--comm app_events) ;;
	esac
	expect 0 fkt_record -k application -p 9 "${filter[@]}" -o trace app_events $program 5000
	made=$(sed -n 's/^made [0-9]* //p' .out)
	# Of a leap, the event that it leaps over may not have begun.
	least=$([ $how = leap ] && echo $((made - 2000)) || echo "$made")
	there=$(($(told app:numbered) + $(told app:in_handler)))
	missing=$(($(info application_lost) + $(lost)))
	check "made $made = read $there + lost $missing ($how)" between "$least" $((there + missing)) "$made"
	# What is leapt over holds the others up, until it is given up.
	many=$([ $how = leap ] && echo 0 || echo 1000)
	check "many are there ($how)" [ $there -ge $many ]
	events trace | perl numbers.pl 5000 $threads $((many ? 1 : 0))
	check "none is there twice, each thread's in order ($how)" [ $? = 0 ]
done

# All of it at once, with more events and less room. tests/host/app_storm.sh has ten million.
expect 0 fkt_record -k system,application --args -p 11 -o trace app_events storm 12000
fkt_print --no-summary --time cycles trace >listing
check 'in threads, handlers, and children that end and are killed' perl "$TOP/tests/vm/storm.pl" .out 12000 "$(info application_lost)" "$(lost)" <listing

expect 0 fkt_record -k application -o trace app_events fork 1000
check 'of parent and children' [ "$(told app:numbered):$(told app:of_child)" = 1000:100 ]
check 'each child is itself' [ "$(events trace | awk '$4 == "app:of_child" { print $2 }' | sort | uniq -c | awk '$1 == 10' | wc -l)" = 10 ]

# Its parent's file is closed with the fork, and its own is opened by the first event.
expect 0 fkt_record -k application -o trace app_events files 5
check 'a child has no file of its parent, and one of its own' [ "$(grep -c '^files 0 1$' .out)" = 5 ]
check 'of each child there is its event' [ "$(told app:of_child)" = 5 ]

expect 0 fkt_record -k application -o trace app_events closes 5
check 'it goes on when all files are closed under it' [ "$(told app:numbered):$(told app:lived)" = 5:5 ]
check 'nothing was lost by that' [ "$(info application_lost)" = 0 ]

the_rest_takes_long

# More threads than have numbers at a time. A number that is given anew is not given too early.
expect 0 fkt_record -k application -p 9 -o trace app_events lives 5000
check 'each of 5000 threads is itself' [ "$(events trace | awk '$4 == "app:lived" { print $2 }' | sort -u | wc -l)" = 5000 ]
check 'nothing of them was lost' [ "$(told app:lived):$(info application_lost)" = 5000:0 ]

# What the filter has to say of a thread is known when it has ended.
for filter in --comm\ app_events --uid\ 0; do
	# shellcheck disable=SC2086
	expect 0 fkt_record -k application -p 9 $filter -o trace app_events lives 500
	check "threads that come and go ($filter)" [ "$(told app:lived):$(info application_lost)" = 500:0 ]
done
# The first thread of a process is still to be found when it has ended, and others go on.
expect 0 fkt_record -k application -p 9 --only-command -o trace app_events leader 500
check 'a first thread that ends first' [ "$(told app:lived):$(info application_lost)" = 500:0 ]
expect 0 fkt_record -k application -p 9 --comm other -o trace app_events lives 500
check 'threads that come and go, and are not asked for' [ "$(told app:lived):$(info application_lost)" = 0:0 ]

# Those that hold the device and record nothing are in nobody's way.
app_events looks 300 >looks &
looks=$!
background+=($looks)
check 'there are 300 that look' wait_until 20 grep -q looks looks
expect 0 fkt_record -k application -o trace app_events burst 100
check 'who only looks takes no place' [ "$(told app:numbered)" = 400 ]
kill $looks
wait $looks

# Names that are in the trace stay, also when its recorder asks for them late; others go with their programs.
start_recorder -n -k application -s 1M -o trace
app_events burst 100 >/dev/null
kill -STOP "$recorder"
run timeout 60 bash -c 'while [ "$(cat /sys/module/fkt/refcnt)" -gt 1 ]; do app_events burst 1000 >/dev/null; done'
check 'the recording ends by itself' [ "$status" = 0 ]
expect 0 app_events names 600
kill -CONT "$recorder"
wait "$recorder"
check 'names that were told are not forgotten' [ "$(told app:numbered)" -ge 400 ]
check 'others have no code of theirs' not grep -q 'app:name[0-9]' <(fkt_print --no-summary trace)
expect 0 fkt_record -k application -o trace app_events names 600
check 'what no event has is forgotten' [ "$(grep -c '^made' .out)" = 1 ]

# Those that the trace's head has are nobody else's while it lasts, also when their program has ended: new ones come to
# their codes first when all others have been given once.
app_events holds 256 >holds &
holds=$!
background+=($holds)
check 'names are held' wait_until 20 grep -q holds holds
start_recorder -n -k application -o trace
kill $holds
wait $holds
run app_events names 800
expect 0 app_events burst 100
stop_recorder
check 'a code has one name in a trace' [ "$(told app:numbered)" = 400 ]

# The head also has those whose programs ended in the recording before. A quarter of all codes are theirs: in one of four
# tries what is given next is among them.
for others in 1 257 513 769; do
	app_events holds 256 >holds &
	holds=$!
	background+=($holds)
	check 'names are held again' wait_until 20 grep -q holds holds
	start_recorder -n -k application -o trace
	kill $holds
	wait $holds
	stop_recorder
	start_recorder -n -k application -o trace
	run app_events names $others
	expect 0 app_events burst 100
	stop_recorder
	check "nor another one in the next trace ($others)" [ "$(told app:numbered)" = 400 ]
done

# Who finds no place is not left out in silence: for each of its threads an event is counted.
start_recorder -n -k application -o trace
echo 0 >/sys/module/fkt/parameters/user_programs
expect 0 app_events burst 100
echo 256 >/sys/module/fkt/parameters/user_programs
expect 0 app_events burst 100
stop_recorder
check "four threads were refused: $(info application_lost)" [ "$(info application_lost)" = 4 ]
check 'and four were not' [ "$(told app:numbered)" = 400 ]
check 'the recorder says so' grep -q ' 4 events were lost that programs' recorder.err

# Nor who was built with another version of user.h; the rest goes on.
expect 0 fkt_record -k application -o trace sh -c 'other_events burst 100 >other.out 2>other.err && app_events burst 100'
check 'it hears nothing of it' [ ! -s other.err ]
said 'built with another version of fkt/user.h'
check 'it is refused' [ "$(told app:numbered):$(info application_lost)" = 400:1 ]

expect 0 fkt_record -k application -o trace app_events exec 5
check 'what was written before exec' [ "$(told app:of_child)" = 5 ]

expect 0 fkt_record -k application -p 9 -o trace app_events kill 5
grep '^killed' .out >killed
events trace >listing
# Where the buffer was full when one of them ended, what says how many it had lost may be lost as well; the recording's sum
# has them all the same.
check 'of those that were killed: made = read + lost' perl -e '
	my (%made, %there, $least, $read, $bad);
	my ($programs_lost, $lost) = @ARGV;
	open my $in, "<", "killed";
	while (<$in>) { my (undef, $pid, $least, $most) = split; $made{$pid} = [$least, $most] }
	open $in, "<", "listing";
	while (<$in>) {
		$there{$1}++, $read++ if /^\d+ (\d+) .* app:of_child /;
		$there{$1} += $2 if /application_lost +process=.*\[(\d+)\] events=(\d+)/;
	}
	for (keys %made) {
		my $n = $there{$_} // 0;
		print "$_: $n of $made{$_}[0] to $made{$_}[1]\n";
		$bad = 1 if $n < $made{$_}[0] && !$lost || $n > $made{$_}[1] || !$n;
		$least += $made{$_}[0];
	}
	print "$least: $read read, $programs_lost lost by the programs, $lost by the buffer\n";
	exit($bad || $least > $read + $programs_lost + $lost || keys %made != 5)' "$(info application_lost)" "$(lost)"

# A recording that fails when its probes are there already: no thread can be made any more. Programs go on, and nothing of
# it holds for the next one: neither its filter, nor its names.
app_events steps 1000000 >steps &
steps=$!
background+=($steps)
most=$(cat /proc/sys/kernel/threads-max)
check 'there is a program' wait_until 20 [ -s steps ]
held=$(cat /sys/module/fkt/refcnt)
rm -f go
(until [ -e go ]; do :; done; exec fkt_record -n -k application --comm nobody -o failed 2>failed.err) &
late=$!
sleep 1
echo 1 >/proc/sys/kernel/threads-max
: >go
wait $late
status=$?
echo "$most" >/proc/sys/kernel/threads-max
sed 's/^/  late: /' failed.err
check 'a recording fails late' [ $status = 1 ]
check 'because of a thread' grep -q 'temporarily unavailable' failed.err
check 'nothing of it holds the module' [ "$(cat /sys/module/fkt/refcnt)" = "$held" ]
start_recorder -n -k application -o trace
before=$(wc -l <steps)
check 'the program goes on' wait_until 20 sh -c "[ \$(wc -l <steps) -gt $((before + 1)) ]"
stop_recorder
check 'it is recorded without a filter' [ "$(told app:numbered)" -gt 1000 ]
kill $steps
wait $steps

# A program that does what it likes, and one that is recorded beside it.
cp "$(command -v app_hostile)" .
chmod 666 /dev/fkt_user
setpriv --reuid 65534 --clear-groups ./app_hostile 20 >hostile 2>&1 &
hostile=$!
background+=($hostile)
expect 0 fkt_record -k system,application --args -p 10 -o trace app_events calls 500
check 'others are recorded as ever' perl between.pl 500 4 < <(events trace)
check 'nothing of the others is claimed' [ "$(told app:numbered)" = 2000 ]
expect 0 fkt_record -k application -o trace sleep 2
wait $hostile
chmod 600 /dev/fkt_user
check 'it lived more than once' grep -qE '^[0-9]+ lives' hostile
check 'it was let do nothing else' not grep 'it let me' hostile
check 'the module goes' wait_until 5 idle
