# SPDX-License-Identifier: GPL-2.0-only
# limit: 180 s
#
# A buffer that is full: what is dropped is counted to the event, and shown where it is missing; or the recording pauses,
# says so, and goes on when the mask is set again.

. "$TOP/tests/vm/lib.sh"

# A pipe whose reader sleeps when the first pages come, and a buffer of 4 pages a lane, which may become 32.
mkfifo fifo

drop() {
	echo "--- drop $*"
	perl "$TOP/tests/vm/slow_reader.pl" 4 <fifo >t &
	reader=$!
	background+=($reader)
	fkt_record "$@" --on-full drop -p 2 -o - calls -c 0 100000 >fifo 2>record.err
	check 'fkt_record ends well' [ $? = 0 ]
	wait $reader
	cat record.err
	recorded=$(recorded record.err)
	lost=$(lost record.err)
	check 'events were lost' [ "$lost" -gt 100000 ]
	check 'it says how many' grep -q "$lost events were lost because the buffer was full" record.err

	events t >events
	check 'the others are there' [ "$(grep -vc '^\*\*\*' events)" = "$recorded" ]
	# Each "***" is the loss since the one before; nearly all that is lost are the calls of the loop.
	perl -ne '$n += $1 if /^\*\*\* .*: (\d+) events? lost/; END { print $n + 0, "\n" }' events >shown
	check "in their places, all that is lost is shown" [ "$(cat shown)" = "$lost" ]
	check 'the summary knows it as well' grep -q "^$lost " <(summary t Lost)
	perl -e '
		my ($file, $lost, $calls) = @ARGV;
		open my $in, "<", $file;
		# All events of a lane before the first loss and after the last are whole: count calls and returns.
		while (<$in>) { $entries++ if / 006e sys_getppid/; $exits++ if / 046e sys_getppid/; $gaps++ if /^\*/ }
		my $missing = 2 * $calls - $entries - $exits;
		printf "%d entries, %d exits, %d missing of the loop, %d lost in all, in %d places\n",
			$entries, $exits, $missing, $lost, $gaps;
		# Other events are lost as well: those of the timer, at most some hundreds a second.
		exit !($missing <= $lost && $lost - $missing < 20000)' events "$lost" 100000
	check 'recorded and lost make what happened' [ $? = 0 ]
}

drop
same_by_all t
drop --lanes 1

# With the timer out of the way: on a CPU alone, process events only, a loop that makes exactly so many.
echo '--- exactly'
perl "$TOP/tests/vm/slow_reader.pl" 4 <fifo >t &
reader=$!
background+=($reader)
fkt_record -k process -p 2 -o - renames 60000 >fifo 2>record.err
check 'fkt_record ends well' [ $? = 0 ]
wait $reader
cat record.err
events t >events
perl -e '
	my ($file, $lost, $made) = @ARGV;
	open my $in, "<", $file;
	while (<$in>) {
		if (/ 1107 rename +\S+ tgid=\d+ r(\d+)$/) { $seen{$1}++; $gap = 0; $last = $1; }
		$twice++ if /r(\d+)$/ && $seen{$1} > 1;
	}
	my $missing = $made - keys %seen;
	printf "%d of %d renames are there, %d missing, %d lost\n", scalar keys %seen, $made, $missing, $lost;
	exit !($missing && !$twice && $missing <= $lost && $lost - $missing < 3000)' events "$(lost record.err)" 60000
check 'renames recorded and lost make those that happened' [ $? = 0 ]

# pause SECONDS [COMMAND…]: a recording that pauses when its reader sleeps for so long; returns when COMMAND succeeds, by itself when
# it records, for which the mask is set.
pause() {
	dmesg -C
	perl "$TOP/tests/vm/slow_reader.pl" "$1" <fifo >t &
	reader=$!
	background+=($reader)
	fkt_record --on-full pause -p 2 -n -o - >fifo 2>recorder.err &
	recorder=$!
	background+=($recorder)
	shift
	wait_until 30 "${@-recording}"
}

paused() {
	grep -q 'recording paused' <(dmesg)
}

echo '--- pause'
# They are made from the beginning: on a machine that is slow, what comes and goes until it records may fill the buffer.
calls -c 0 -s 120 >/dev/null &
busy=$!
background+=($busy)
pause 4 paused
kill $busy
wait $busy
check 'the log says it' grep -q 'fkt: no page free in lane [0-9]*: recording paused; set the mask again to go on (fkt_setmask)' <(dmesg)
check 'once' [ "$(dmesg | grep -c 'recording paused')" = 1 ]
calls -c 0 5000 >/dev/null
wait_until 10 sh -c 'sleep 4'
expect 0 fkt_setmask system
calls -c 0 300 >/dev/null
stop_recorder
check 'it ends well' [ "$status" = 0 ]
wait $reader
check 'the recorder says it' grep -q 'the recording was paused once because' recorder.err
events t >events
check 'the pause is in the trace' grep -q ' 1200 fkt_pause ' events
sed -n '/ 1200 fkt_pause /,$p' events >after
check 'and nothing but the mask until it goes on' [ "$(sed '/ 1201 fkt_setmask/q' after | grep -c ' 006e ')" = 0 ]
check 'then all calls' [ "$(grep -c ' 006e ' after)" = 300 ]
before=$(sed '/ 1200 fkt_pause /q' events | grep -c ' 006e ')
check 'what was recorded before is there' between 100 "$before" 99999

the_rest_takes_long

# The mask is set again while the one that tells a pause sleeps, for the pipe is full. It is told first: by another CPU, which
# has room, or later.
echo '--- pause, untold'
# The reader sleeps for longer than it takes to fill both.
pause $((15 * FKT_SLOW))
# 16 pages in the pipe, 32 in the lane.
taskset -c 0 perl -e 'for (1 .. 100) { syscall 110 for 1 .. 150; select undef, undef, undef, 0.02 }'
check 'the pause is not told yet' not paused
# Each time that it is told, the lane may get some pages more.
for _ in {1..20}; do
	run taskset -c 0 fkt_setmask system
	[ "$status" = 0 ] || break
	calls -c 0 10000 >/dev/null
done
check 'when there is no page left, it does not go on' [ "$status" = 1 ]
said 'paused, and the output has not taken a page yet'
one_sentence
expect 0 fkt_disable system
if [ "$(nproc)" = 1 ]; then
	wait_until $((30 * FKT_SLOW)) fkt_setmask system
else
	expect 0 taskset -c 1 fkt_setmask system
fi
check 'now it is' paused
stop_recorder
check 'it ends well' [ "$status" = 0 ]
wait $reader
events t | grep -E ' 120[01] fkt_(pause|setmask) ' >told
cat told
check 'the mask that ends the pause comes behind it' grep -q ' 1201 fkt_setmask ' <(grep -A 9 ' 1200 fkt_pause ' told)
check 'no other one comes before a pause' not grep -q x <(perl -ne '
	$on++ if / 1201 /; $on = 0 if / 1200 /; print "x\n" if $on > 1 && $seen; $seen ||= / 1200 /' told)
