# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 600 s
#
# Samples: with the stacks that are there; beside other things that are recorded; a CPU that comes and goes, the module
# that goes, and numbers that are none. profile_perf.sh has what they come to beside perf's and gprof's.

. "$TOP/tests/vm/lib.sh"

# samples OPTION…: how many of the trace t there are.
samples() {
	fkt_print --profile --format csv "$@" t | perl -F, -ne '$n += $F[4] if @F == 6 && $F[4] =~ /^\d+$/; END { print $n + 0 }'
}

# Other tests have said things as the kernel does.
dmesg -c >/dev/null

expect 0 fkt_record --profile -o t -- hot 5

echo '--- stacks: of the kernel to where it was entered, and of the program behind it'
fkt_print --no-summary --stack --format json --code sample --process hot t >json
check 'a program: its own alone' grep -q '"user":1,.*"stack":\["four_parts+[^"]*","outer+[^"]*","main+' json
check 'the kernel: with both' grep -q '"user":0,.*"entry_SYSCALL_64_after_hwframe+[^"]*",".*"main+' json
refuse 'nothing of the timer' grep -qE 'hrtimer|fkt_profile' <(grep -v '"asm_' json)
check 'none without a stack' [ "$(grep -c '"stack":null' json)" = 0 ]
check 'the first frame is the address' perl -ne '
	$ip = $1, next if / user=0 .* ip=(.*\S)/;
	/^ *(.*\S)/ && $ip && $1 ne $ip and die "$ip is $1\n";
	$ip = ""; $n++; END { exit !$n }' <(fkt_print --no-summary --stack --code sample --process hot t)
check 'by stack' grep -q '^sample: [0-9]* times' <(fkt_print --by stack t)
check 'idle CPUs have none' [ "$(fkt_print --no-summary --code sample --process idle t | grep -vc softirq)" -lt "$(samples)" ]
check 'a flame graph has them, too' grep -q '^hot;.*main;outer;four_parts [0-9]*$' <(fkt_print --folded --flame-of samples t)
for option in '--process hot' '--cpu 0' '--to 3s' '--from 2s'; do
	# shellcheck disable=SC2086 # two words
	expect 0 fkt_extract $option -o part t
	# shellcheck disable=SC2086 # two words
	fkt_print --profile --format csv $option t | sed -n '/^function/,$p' >of_whole
	# shellcheck disable=SC2086 # two words
	fkt_print --profile --format csv ${option/--from*/} part | sed -n '/^function/,$p' >of_part
	check "a part, $option, has the samples of it" diff of_whole of_part
done
fkt_print --no-summary --stack --threads 1 t >one
fkt_print --no-summary --stack --threads 4 t >four
check 'several threads list the same' cmp one four

echo '--- nothing else is disturbed: calls and interrupts beside samples'
expect 0 fkt_record --profile 2000 -k system -o t -- hot 3
same_by_all t
check 'there are samples' [ "$(samples --process hot)" -gt 300 ]
check 'calls are whole' [ "$(fkt_print --calls --format csv --function sys_getppid t | grep -c sys_getppid)" -ge 1 ]
expect 0 fkt_record --profile -F 'hrtimer_*' -F 'ktime_get*' -F '*irq_exit*' -o t -- hot 2
check 'with what the timer calls traced' [ "$(samples --process hot)" -gt 100 ]

echo '--- a filter, the layer alone'
hot 1000 &
background+=($!)
expect 0 fkt_record --profile --pid $! -o t -- hot 2
check 'that process' [ "$(samples)" -gt 100 ]
check 'no other one' [ "$(fkt_print --profile --format csv t | grep -c '^[0-9]*,')" = 1 ]
kill $!
expect 0 fkt_record -k profile -o t -- hot 2
check 'by its layer, so many as ever' grep -q '997 a second' <(fkt_print --profile t)

the_rest_takes_long

echo '--- one lane, a ring'
expect 0 fkt_record --lanes 1 --profile -o t -- hot 2
check 'one lane' [ "$(samples --process hot)" -gt 300 ]
check 'its stacks' grep -q '"stack":\["four_parts+' <(fkt_print --no-summary --stack --format json --code sample t)
expect 0 fkt_record --ring 1M --profile -o t -- hot 2
check 'a ring' [ "$(samples --from 0 --process hot)" -gt 100 ]

echo '--- a CPU that goes and comes'
if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	start_recorder -n --profile -o t
	taskset -c 1 hot 1
	for i in 1 2 3 4 5; do
		echo 0 >/sys/devices/system/cpu/cpu1/online
		echo 1 >/sys/devices/system/cpu/cpu1/online
	done
	taskset -c 1 hot 2
	stop_recorder
	check 'it ends well' [ "$status" = 0 ]
	check 'samples from before and after' [ "$(samples --cpu 1 --process hot)" -gt 300 ]
	check 'without a warning' is_content
fi

echo '--- recordings end, and the module goes, while timers run'
for i in {1..10}; do
	fkt_record --profile 5000 -o t -- true 2>.err || fail "round $i: $(cat .err)"
	rmmod fkt || fail "round $i: rmmod"
	insmod /run/fkt-vm/fkt.ko || fail "round $i: insmod"
done
sleep 1
check 'without a warning' is_content

echo '--- by a counter: so much of it, or so many times a second'
expect 0 fkt_record --profile=page-faults:1 -o t -- fault_calls
each=$(samples --process fault_calls)
check 'each fault' [ "$each" -ge 160 ]
check 'by what it is' grep -q 'samples, one for each 1 page-faults' <(fkt_print --profile t)
check 'where it was' grep -q '"stack":\[.*"handle_mm_fault\|"stack":\[.*exc_page_fault\|"stack":\[.*"main+' \
	<(fkt_print --no-summary --stack --format json --code sample --process fault_calls t)
expect 0 fkt_record --profile page-faults:10 -k system -o t fault_calls
check 'each tenth' between $((each / 10 - 4)) "$(samples --process fault_calls)" $((each / 10 + 4))
expect 0 fkt_record --profile=context-switches:1 -o t -- sh -c 'sleep 0.1; sleep 0.1'
check 'switches, once each frame' perl -0ne '
	$n = () = /\n +schedule\+\S+\n +do_nanosleep\+/g; exit !$n || /\n +(schedule\+\S+)\n +\g1\n/' <(fkt_print --no-summary --stack --code sample t)
expect 0 fkt_record --profile=cpu-clock -o t -- hot 3
check 'a clock of the kernel' [ "$(samples --process hot)" -gt 300 ]
check 'so many a second' grep -q 'samples, 997 a second .*, by cpu-clock' <(fkt_print --profile t)
check 'with its stacks' grep -q '"stack":\["four_parts+[^"]*","outer+[^"]*","main+' \
	<(fkt_print --no-summary --stack --format json --code sample --process hot t)
expect 0 fkt_record --profile=cpu-clock:1 -F 'perf_*' -o t -- hot 1
said 'no more than 20000 samples a second: one in 50000 ns, not 1'
check 'among what brings them about' [ "$(samples --process hot)" -gt 50 ]
if [ ! -e /sys/bus/event_source/devices/cpu ]; then
	expect 0 fkt_record --profile cycles -o t hot 2
	said '^fkt_record: --profile=cycles is left out: this machine has no such counter'
	said '^fkt_record: --profile: by a timer, 997 times a second'
	check 'there are some' [ "$(samples --process hot)" -gt 100 ]
fi
expect 2 fkt_record --profile=page-fault -- true
said "^fkt_record: --profile: 'page-fault' is no counter; did you mean 'page-faults'"
expect 2 fkt_record --profile=page-faults:0 -- true
said "is not how much page-faults is to count"
# A CPU that has been away has no counter any more.
start_recorder -n --profile=page-faults:1 -o t
echo 0 >/sys/devices/system/cpu/cpu1/online
echo 1 >/sys/devices/system/cpu/cpu1/online
stop_recorder
check 'that is said' grep -q 'samples did not come, 1 at least' recorder.err
for i in {1..5}; do
	fkt_record --profile=cpu-clock:50000 -o t -- hot 0.1 2>.err || fail "round $i: $(cat .err)"
	rmmod fkt || fail "round $i: rmmod"
	insmod /run/fkt-vm/fkt.ko || fail "round $i: insmod"
done
check 'without a warning' is_content

echo '--- too many, and no number'
expect 0 fkt_record --profile 20000 -o t -- hot 2
check 'samples do not take all of a CPU' [ "$(samples --process hot)" -gt 50 ]
for hz in 20001 100000 99999999999999999999; do
	expect 0 fkt_record "--profile=$hz" -o t -- true
	said "^fkt_record: --profile: no more than 20000 samples a second, not $hz"
done
for hz in 0 -5 x ''; do
	expect 2 fkt_record "--profile=$hz" -- true
	said '^fkt_record: --profile: '
done
