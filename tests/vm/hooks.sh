# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# What the module does of itself about functions that it is told to hook, whatever the recorder looks at before.

. "$TOP/tests/vm/lib.sh"

read_something='cat /etc/hostname >/dev/null'

# hooked TEXT: what the last one answered.
hooked() {
	check "$1" [ "$out" = "$1" ]
}

# Functions that somebody has already, and can share, between such that are held: finding these makes many groups, and each
# takes grace periods to be unhooked; in the end they are one.
held_among_many() {
	local tracing=/sys/kernel/tracing free='vfs_readlink vfs_rename vfs_link vfs_unlink' name waits

	for name in $free; do
		echo "p:shared/$name $name" >>$tracing/kprobe_events || die "no kprobe on $name"
	done
	echo 'p:waits/rude synchronize_rcu_tasks_rude' >>$tracing/kprobe_events || die 'no kprobe on synchronize_rcu_tasks_rude'
	echo 1 >$tracing/events/shared/enable
	echo 1 >$tracing/events/waits/enable
	expect 0 hold vfs_fallocate hold vfs_fsync_range hold vfs_truncate sh -c "hook t 'cat $tracing/kprobe_profile >before' 0 \
		vfs_readlink vfs_fallocate vfs_rename vfs_fsync_range vfs_link vfs_truncate vfs_unlink &&
		cat $tracing/kprobe_profile >after"
	hooked '4 hooked, 3 refused EBUSY EBUSY EBUSY'
	waits=$(cat before after | awk '$1 == "rude" { n = $2 - n } END { print n }')
	# Of the group, of the hook that keeps ftrace on, and of the gate.
	check "they are unhooked together: $waits waits" between 1 "$waits" 3
	echo 0 >$tracing/events/shared/enable
	echo 0 >$tracing/events/waits/enable
	echo >$tracing/kprobe_events
}

# A layer that is turned on later, when somebody has come in between: the recorder says which function it is.
held_meanwhile() {
	start_recorder -n -o t
	expect 0 hold tcp_v4_rcv fkt_enable transport
	stop_recorder
	check 'it says which one and why' \
		grep -q '^fkt_record: 1 function could not be hooked: tcp_v4_rcv (a BPF program or a live patch holds it)$' recorder.err
}

# BPF programs can be attached where they usually are, whatever is traced.
free_for_bpf() {
	start_recorder -n -v -F 'b*' -o t
	expect 0 hold bpf_lsm_file_open true
	stop_recorder
	check 'it says what is left out' grep -q '^fkt_record: functions bpf_lsm_\* left out' recorder.err
	check 'the others are there' [ "$status" = 0 ]
	refuse 'it is not listed' grep -q '^bpf_lsm_file_open' <(fkt_record --list-functions 'b*')
	check 'but where it is meant' grep -q '^bpf_lsm_file_open$' <(fkt_record --list-functions 'bpf_lsm_*')
	check 'and with its reason' grep -q '^bpf_lsm_file_open .*; patterns with another beginning leave it' \
		<(fkt_record -v --list-functions '*_lsm_file_open')
}

# A module that is just being loaded: its functions stay when those go that are there for loading it alone. With an argument,
# FKT is loaded after its loading has begun, and does not know which are which.
while_loading() {
	local loading

	insmod "$event" steps=100000 &
	loading=$!
	wait_until 5 grep -q fkt_event_step /proc/kallsyms || die 'fkt_event does not come'
	[ $# = 0 ] || { rmmod fkt && insmod /run/fkt-vm/fkt.ko; } || die 'FKT is not loaded anew'
	start_recorder -n -o t -F 'fkt_event_*'
	check 'it is still being loaded' kill -0 $loading
	# A step or two.
	sleep 0.3
	echo 0 >/sys/module/fkt_event/parameters/steps
	wait $loading || fail 'fkt_event does not come'
	echo 7 >/sys/module/fkt_event/parameters/fire
	stop_recorder
	check 'steps of loading it' [ "$(events t | grep -cE ' fkt_event_step( |$)')" -gt 0 ]
	check 'its function' [ "$(events t | grep -cE ' fkt_event_call( |$)')" = 7 ]
	rmmod fkt_event
}

# A module goes while it is asked whether its function can be hooked: ftrace knows it until after FKT has been told.
while_it_goes() {
	insmod "$args" && insmod "$TOP/build/tests/vm/linger/$(uname -r)/linger.ko" function=ftrace_release_mod ms=700 ||
		die 'the modules do not load'
	hookable args_3 ext4 >asked &
	background+=($!)
	wait_until 10 grep -q asking asked
	rmmod fkt_args
	wait $!
	check 'it can be hooked until its module goes' [ $? = 0 ]
	rmmod linger
}

expect 0 hook t "$read_something" 0 vfs_read vfs_write
hooked '2 hooked, 0 refused'

# One that a BPF program holds is left out; the others are hooked all the same.
if hold vfs_read true 2>/dev/null; then
	expect 0 hold vfs_read hook t "$read_something" 0 vfs_open vfs_read vfs_write vfs_statx vfs_fsync_range
	hooked '4 hooked, 1 refused EBUSY'
	expect 0 hold vfs_read hook t "$read_something" 0 vfs_read
	hooked '0 hooked, 1 refused EBUSY'
	held_among_many
	held_meanwhile
fi
expect 0 hook t "$read_something" 0 vfs_read vfs_read
hooked '1 hooked, 1 refused EEXIST'
expect 0 hook -a t "$read_something" 0 vfs_read vfs_read vfs_write
hooked '2 hooked, 1 refused EEXIST'

# Functions of modules go with them: they have a group, and the kernel's own have none.
event=$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko
args=$TOP/build/tests/vm/fkt_args/$(uname -r)/fkt_args.ko
insmod "$event" && insmod "$args" || die 'the modules do not load'
expect 1 hook t true 0 fkt_event_call
hooked 'add: EINVAL'
expect 1 hook t true 1 vfs_read
hooked 'add: EINVAL'
# Two modules that a careless recorder has put into one group, and one goes, be it the first or the second. What comes to be
# where its function was is not traced.
for functions in 'fkt_event_call args_3' 'args_3 fkt_event_call'; do
	# shellcheck disable=SC2086
	expect 0 hook t "rmmod fkt_args; echo 7 >/sys/module/fkt_event/parameters/fire; insmod $args
		cat /sys/kernel/tracing/enabled_functions >enabled" 1 $functions
	hooked '2 hooked, 0 refused'
	check 'the one that is there is still hooked' grep -q '^fkt_event_call ' enabled
	refuse 'the other one is not' grep '^args_3 ' enabled
done
expect 0 hook t 'cat /sys/module/fkt_args/parameters/run >/dev/null' 1 args_3
hooked '1 hooked, 0 refused'
# A module that goes takes what was to be traced of it along: what comes in its place may be something else.
expect 0 hook -l t "rmmod fkt_args; insmod $args" 1 args_3
hooked '0 hooked, 1 refused ENOENT'
# An address in it is left out as well.
expect 0 hook -p t 'rmmod fkt_event' 0 fkt_event_call do_sys_openat2
hooked '0 hooked, 1 refused ENOENT'
insmod "$event" || fail 'fkt_event does not come back'
# Nor is it taken for what it was when it was looked up.
expect 0 hook -s t "rmmod fkt_args; insmod $args" 1 args_3 fkt_event_call
hooked '1 hooked, 1 refused ENOENT'
rmmod fkt_args fkt_event

while_it_goes
while_loading reload

# Nor does FKT, loaded anew, take a function for what it was when another instance was asked.
insmod "$args" || fail 'fkt_args does not come back'
expect 1 hook -s t 'rmmod fkt && insmod /run/fkt-vm/fkt.ko' 1 args_3
hooked 'add: ESTALE'
expect 0 hook t 'cat /sys/module/fkt_args/parameters/run >/dev/null' 1 args_3
hooked '1 hooked, 0 refused'
rmmod fkt_args

the_rest_takes_long

# More of the same: where the module is there, and where it does not come again.
while_loading
insmod "$event" && insmod "$args" || die 'the modules do not load'
expect 0 hook -l t 'cat /sys/module/fkt_args/parameters/run >/dev/null' 1 args_3
hooked '1 hooked, 0 refused'
expect 0 hook -p t true 0 fkt_event_call do_sys_openat2
hooked '0 hooked, 0 refused'
expect 0 hook -s t 'rmmod fkt_args' 1 args_3 fkt_event_call
hooked '1 hooked, 1 refused ENOENT'
rmmod fkt_event

! hold vfs_read true 2>/dev/null || free_for_bpf

# A list in which every second function is none.
expect 0 many -b 1 2500
eighth_ms=${out##* }
expect 0 many -b 1 20000
set -- $out
check "of 40000 functions, half of which are none, $1 are hooked, after $3 ms" [ "$1" -gt 15000 ]
check 'which takes no hours' [ "$3" -lt $((30000 * ${FKT_SLOW-1})) ]
check "nor 64 times as long as an eighth of them, $eighth_ms ms" [ "$3" -lt $((24 * eighth_ms)) ]
# A signal ends the search.
begin=${EPOCHREALTIME/./}
timeout -s INT 1 many -b 1 20000
ended=$(((${EPOCHREALTIME/./} - begin) / 1000))
check "the search ends soon after a signal: after $ended ms" [ $ended -lt $((4000 * ${FKT_SLOW-1})) ]
check 'nothing is left behind' wait_until 20 idle

# While ftrace is turned off, it takes hooks and calls nobody; and it can't be turned off while there are hooks.
echo 0 >/proc/sys/kernel/ftrace_enabled
expect 1 hook t true 0 vfs_read vfs_write
hooked 'start: EOPNOTSUPP'
echo 1 >/proc/sys/kernel/ftrace_enabled
expect 0 hook t 'echo 0 2>/dev/null >/proc/sys/kernel/ftrace_enabled' 0 vfs_read
check 'it is still on' [ "$(cat /proc/sys/kernel/ftrace_enabled)" = 1 ]
hooked '1 hooked, 0 refused'

# Nor is anybody harmed whose kprobes ftrace calls: of what came and went while it is off, it would keep wrong books, and stop for
# good when the next one goes.
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing
for when in before within; do
	[ $when = within ] || echo 0 >/proc/sys/kernel/ftrace_enabled
	start_recorder -n -o t
	echo 0 >/proc/sys/kernel/ftrace_enabled
	sh -c 'exit 0'
	stop_recorder
	check "it records, with ftrace turned off $when" [ "$status" = 0 ]
	check 'also which pids are free again' grep -q ' release ' <(events t)
	echo 1 >/proc/sys/kernel/ftrace_enabled
	echo 'p:hooks vfs_read' >$tracing/kprobe_events
	echo 1 >$tracing/events/kprobes/hooks/enable
	cat /proc/version >/dev/null
	echo 0 >$tracing/events/kprobes/hooks/enable
	echo >$tracing/kprobe_events
	expect 0 hook t true 0 vfs_read
	hooked '1 hooked, 0 refused'
done
echo 0 >/proc/sys/kernel/ftrace_enabled
expect 1 fkt_record -P vfs_read -o t true
said 'all tracing of functions is turned off'
echo 1 >/proc/sys/kernel/ftrace_enabled

# All kprobes are turned off, which the kernel does not say to whoever asks for one.
kprobes=/sys/kernel/debug/kprobes/enabled
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
echo 0 >$kprobes
expect 1 fkt_record -P vfs_read -o t true
one_sentence
said "all kprobes are turned off; turn them on with 'echo 1 >$kprobes'"
expect 1 hook -p t true 0 vfs_read
hooked 'enable: EOPNOTSUPP'
check 'nothing is left behind' wait_until 20 idle
echo 1 >$kprobes
expect 0 fkt_record -P vfs_read -o t cat /proc/version
check 'they are on again' grep -q ' vfs_read' <(events t)
