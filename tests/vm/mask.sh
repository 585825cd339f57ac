# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# Changing the mask of a running recording: what is off leaves nothing in the trace, process events are on with anything,
# and the change itself is an event.

. "$TOP/tests/vm/lib.sh"

# Without a recording, and nonsense.
for tool in fkt_enable fkt_disable fkt_setmask; do
	expect 1 $tool system
	one_sentence
	said "^$tool: .*no recording is running"
	expect 2 $tool nonsense
	expect 2 $tool "$(free_key)"
	expect 2 $tool
	expect 2 $tool system process
done

start_recorder -n -o t
calls 1000 >/dev/null
expect 0 fkt_disable system
calls 100 >/dev/null
expect 0 fkt_enable 1
calls 2000 >/dev/null
expect 0 fkt_setmask 0
calls 200 >/dev/null
expect 0 fkt_setmask process
calls 300 >/dev/null
expect 0 fkt_setmask system,process
calls 4000 >/dev/null
stop_recorder
check 'it ends well' [ "$status" = 0 ]

# What happened between one change of the mask and the next.
events t | perl -ne '
	if (/^\d+ \d+ 1201 fkt_setmask +mask=(\S+)/) {
		# That all is off is said once more, when nobody is in the middle of it any more.
		$switches = 0, next if $last eq "0x0" && $1 eq $last && !$calls;
		$last = $1;
		print "calls $calls, switches ", ($switches ? "some" : "none"), "\n$1: ";
		$calls = $switches = 0;
	}
	BEGIN { print "begin: "; $calls = 0 }
	$calls++ if / 006e sys_getppid/;
	$switches++ if / 1100 switch_to +(.+) R ==> (.+)/ && $1 ne $2;
	END { print "calls $calls, switches ", ($switches ? "some" : "none"), "\n" }' >spans
cat spans
# The first is that of start_recorder, which waited for the recording in this way.
sed -n '/: calls [1-9]/,$p' spans >got
cat >wanted <<END
0x80000001: calls 1000, switches some
0x0: calls 0, switches none
0x80000001: calls 2000, switches some
0x0: calls 0, switches none
0x80000000: calls 0, switches some
0x80000001: calls 4000, switches some
END
check 'each span has what its mask asks for' diff wanted got

# off_and_on TIMES: when it goes on, each CPU says first who is current, for others have come since. Prints what else comes first
# after the last event that says off.
off_and_on() {
	TIMES=$1 perl -ne '
		next unless my ($cpu, $name, $rest) = /^(\d+) \S+ [0-9a-f]+ (\S+) *(.*)/;
		if ($name eq "fkt_setmask" && $rest =~ /mask=0x0\b/) {
			print @first if $on;
			%said = ();
			@first = ();
			$on = 0;
			$off++;
		} elsif ($off && !$said{$cpu}++) {
			$first++;
			push @first, $_ unless $name eq "switch_to" && $rest =~ /^(.+) R ==> \1$/;
		}
		if ($off && $name eq "fkt_setmask" && $rest !~ /mask=0x0\b/) {
			$times += !$on;
			$on = 1;
		}
		END {
			print @first if $on;
			print "$first after $times\n" if $times != $ENV{TIMES} || $first < $times;
		}'
}
for lanes in cpu 1; do
	start_recorder -n -o t.often --lanes $lanes
	for ((i = 0; i < 20; i++)); do
		sleep 0.01 & sleep 0.02 &
		fkt_disable system
		sleep 0.005
		fkt_enable system
	done
	wait %2 2>/dev/null
	stop_recorder
	events t.often | off_and_on 20 >first
	cat first
	check "the first event of a CPU says who is there (--lanes $lanes)" [ ! -s first ]
done

# Where others record for a while after the event that says that it is off, it is said once more, behind that.
if [ "$(nproc)" -gt 1 ]; then
	start_recorder -n -o t.linger
	insmod "$TOP/build/tests/vm/linger/$(uname -r)/linger.ko" function=fkt_mask_off ms=500 || die 'no linger.ko'
	taskset -c 1 perl -MTime::HiRes=sleep -e 'for (;;) { sleep 0.005; getppid }' &
	busy=$!
	background+=($busy)
	sleep 1
	taskset -c 0 fkt_disable system
	rmmod linger
	kill $busy
	wait $busy
	fkt_enable system
	stop_recorder
	events t.linger >events
	check 'others have recorded after the event' [ "$(sed '1,/ fkt_setmask .*mask=0x0 /d' events | sed '/ fkt_setmask /q' |
		grep -c '^1 ')" -gt 10 ]
	off_and_on 1 <events >first
	cat first
	check 'behind the last one that says off is who is there' [ ! -s first ]
fi

# Began with nothing: the first enable attaches the probes.
start_recorder -n -k 0 -o t.late
calls 700 >/dev/null
expect 0 fkt_setmask 0
stop_recorder
check 'enabled later' [ "$(count t.late 006e)" = 700 ]

# check_current WHAT FILE: what was recorded on a CPU before it switched is of who left.
check_current() {
	events "$2" | perl -ne '
		my ($cpu, $pid, $rest) = /^(\d+) (\d+) [0-9a-f]+ (.*)/ or next;
		# Others come while nothing is recorded.
		%last = (), next if $rest =~ /^fkt_setmask /;
		if ($rest =~ /^switch_to +(?:idle|.*?\[(\d+)\]) \S+ ==> /) {
			my $leaves = $1 // 0;
			print $before{$cpu}, $_ if defined $last{$cpu} && $last{$cpu} != $leaves;
			delete $last{$cpu};
			next;
		}
		$last{$cpu} = $pid;
		$before{$cpu} = $_' >others
	head -5 others
	check "$1" [ ! -s others ]
}

# Who begins the recording writes into it before switches are recorded, and is to go to another CPU then: what is recorded behind it
# there is not that one's. It is held where it has begun a page.
if [ "$(nproc)" -gt 1 ]; then
	insmod "$TOP/build/tests/vm/linger/$(uname -r)/linger.ko" function=fkt_lane_record_slow behind=1 ms=2000 \
		times=1 || die 'no linger.ko'
	taskset -c 1 fkt_record -n -o t.moved 2>recorder.err &
	recorder=$!
	background+=("$recorder")
	check 'it is about to record' wait_until 30 pgrep -x fkt_flush
	sleep 0.3
	taskset -c 0 taskset -pc 0 "$recorder"
	rmmod linger
	wait_until 30 recording
	taskset -c 1 sleep 0.1
	stop_recorder
	check 'who began it has written on CPU 1' grep -q "^1 $recorder 1107 rename " <(events t.moved)
	check_current 'each switch is of who was there' t.moved
fi

# A CPU goes and comes back, and it is turned on meanwhile: who was there when it was turned off is not there any more.
if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	start_recorder -n -k system -o t.gone
	taskset -c 1 perl -e 'for (;;) {}' &
	busy=$!
	background+=($busy)
	sleep 1
	expect 0 taskset -c 0 fkt_setmask 0
	kill $busy
	wait $busy
	echo 0 >/sys/devices/system/cpu/cpu1/online
	expect 0 fkt_setmask system
	echo 1 >/sys/devices/system/cpu/cpu1/online
	taskset -c 1 sleep 0.1
	stop_recorder
	check 'there was somebody' grep -q "^1 $busy " <(events t.gone)
	check_current 'and nobody when it has come back' t.gone
fi
