# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Triggers: each is made to happen, and what made it happen is in its snapshot.

. "$TOP/tests/vm/lib.sh"

# triggered WHAT COMMAND…: record it with this trigger and more options from $options; t.1 is the snapshot.
options=()
triggered() {
	rm -f t t.*
	expect 0 fkt_record --ring 8M --args -k system -o t --trigger "$1" "${options[@]}" -- "${@:2}"
	check "$1: it has fired" grep -qF "triggered by $1: " <<<"$err"
	check "$1: there is a snapshot" [ -s t.1 ]
	check "$1: and nothing else" [ ! -e t ]
	check "$1: it is in the trace" grep -qF " $1 " <(fkt_print --no-summary --code fkt_trigger t.1)
	check "$1: the summary says so" grep -qF "$1, in thread" <(summary t.1 Trigger)
}

# trigger_of FIELD: of the event.
trigger_of() {
	fkt_print --no-summary --format json --code fkt_trigger --from 0 t.1 | sed -nE "s/.*\"$1\":\"?([^\",}]*).*/\1/p"
}

echo '--- calls that fail, or take long'
triggered 'sys_exit:write ret==-ENOSPC' sh -c 'sleep 0.1; echo x >/dev/full; sleep 0.1'
check 'the write is in it' grep -q 'sys_exit_write.*ENOSPC\|sys_write_exit.*ENOSPC\|ENOSPC' <(fkt_print --no-summary -p "+$(trigger_of pid_name)" t.1)
triggered 'sys_clock_nanosleep>300ms' sh -c 'sleep 0.1; sleep 0.5; sleep 0.1'
check 'its call is there' grep -q 'sys_clock_nanosleep' <(fkt_print --no-summary --spans --longer-than 300ms --from 0 t.1)
options=(--after 200ms)
# oflag=dsync: one call, not an inlined one as fsync()'s on newer kernels.
triggered 'vfs_fsync_range>1us' sh -c 'dd if=/dev/zero of=f bs=4k count=1 oflag=dsync; sleep 1'
check '--after: it goes on for 200 ms behind it' \
	awk -v at="$(trigger_of time_ns)" '{ last = $1 } END { exit !(last >= at + 150000000) }' \
	<(fkt_print --no-summary --format json --from 0 t.1 | sed -nE 's/.*"time_ns":([0-9]+).*/\1/p')
options=()

echo '--- what is overwritten before it is taken'
rm -f t t.*
expect 0 fkt_record --ring 512K -k system -o t --trigger sys_enter:getppid --after 500ms -- calls -t "$(nproc)" -s 2
check 'there is a snapshot' [ -s t.1 ]
check 'what triggered it is not in it' not grep -q ' fkt_trigger ' <(fkt_print --no-summary --from 0 t.1)
check 'the summary says so' grep -q '^sys_enter:getppid, in thread [0-9]*, before the first event$' <(summary t.1 Trigger)
expect 1 fkt_print --from trigger-1ms t.1
said 'it begins after what triggered the snapshot'

echo '--- threads that wait'
triggered 'runnable>5ms comm==burner' sh -c 'for i in 1 2 3; do taskset 1 perl -e '\''$0 = "burner"; 1 while time < $^T + 2'\'' & done; wait'
check 'it is the one that it should be' [ "$(trigger_of pid_name)" = burner ]
triggered 'offcpu>400ms comm==napper' perl -e '$0 = "napper"; select undef, undef, undef, $_ for 0.1, 0.1, 0.6, 0.1'
check 'it is the one that slept' [ "$(trigger_of pid_name)" = napper ]
check 'for so long' awk -v slept="$(fkt_print --no-summary --format json --waits --from 0 -p +napper t.1 |
	sed -nE 's/.*"max_ns":([0-9]+).*/\1/p' | sort -n | tail -1)" 'BEGIN { exit !(slept > 400e6 && slept < 2e9) }'

echo '--- interrupts'
triggered 'irq>1us' sh -c 'for i in 1 2 3; do dd if=/dev/zero of=f bs=64k count=4 conv=fsync; done'
triggered 'softirq>1us' sh -c 'sleep 0.2; dd if=/dev/zero of=f bs=64k count=4 conv=fsync'

echo '--- events, with conditions on their fields'
triggered 'signal:signal_generate sig==10' sh -c 'trap "" USR1 USR2; kill -USR2 $$; sleep 0.1; kill -USR1 $$; sleep 0.1'
check 'its value is the signal' [ "$(trigger_of value)" = 10 ]
triggered 'block:block_rq_complete error==0 && nr_bytes>=8192' dd if=/dev/zero of=f bs=64k count=4 conv=fsync
triggered 'sys_enter:getppid' perl -e 'getppid'

echo '--- and on what they lead to, as -e and -P read it'
head -c 12345 /dev/zero >sized
triggered 'vfs_read file->f_inode->i_size==12345' sh -c 'cat sized $(command -v cat) >/dev/null'
check 'it is who read that file' [ "$(trigger_of pid_name):$(trigger_of value)" = cat:12345 ]
{ cat "$(type -P true)"; echo -n odd; } >odd_one
chmod +x odd_one
bytes=$(stat -c %s odd_one)
triggered "sched:sched_process_exec bprm->file->f_inode->i_size==$bytes && bprm->argc==3" \
	sh -c './odd_one 1; sleep 0.1; ./odd_one 1 2; sleep 0.1'
check 'it is that one' [ "$(trigger_of value)" = "$bytes" ]

echo '--- messages, and the end of the command'
triggered 'log:something odd' sh -c 'sleep 0.1; echo "here is something odd" >/dev/kmsg; sleep 0.2'
the_rest_takes_long

# As the kernel writes them, but not to its console: scripts/vm would believe them.
level=$(cut -f 1 /proc/sys/kernel/printk)
dmesg -n 1
while IFS='|' read -r what message; do
	triggered "$what" sh -c "sleep 0.1; echo '<7>$message' >/dev/kmsg; sleep 0.2"
done <<'END'
oops|Oops: 0002 [#1] PREEMPT SMP NOPTI
oops|general protection fault, probably for non-canonical address 0xdead000000000000: 0000 [#1] PREEMPT SMP NOPTI
oops|invalid opcode: 0000 [#2] PREEMPT SMP NOPTI
warning|WARNING: CPU: 1 PID: 77 at kernel/some.c:12 some_function+0x12/0x34
lockup|watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [perl:77]
stall|rcu: INFO: rcu_preempt self-detected stall on CPU
stall|rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
hung|INFO: task perl:77 blocked for more than 120 seconds.
END
dmesg -n "$level"
# Nor are tests that come after this one to believe them: what was real is in /dev/kmsg.
dmesg -C
# By the name that an enum of the kernel's has for a number.
triggered 'timer:hrtimer_start mode==HRTIMER_MODE_REL comm==sleep' sleep 0.2
# One of no more memory than that.
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/fkt_oom
echo 16M >/sys/fs/cgroup/fkt_oom/memory.max
triggered oom:mark_victim sh -c 'sh -c "echo \$\$ >/sys/fs/cgroup/fkt_oom/cgroup.procs; exec perl -e '\''\$0 = \"hungry\"; \$all = \"x\" x 50e6'\''"; sleep 0.2'
check 'the victim is in it' grep -qE ' (perl|hungry) ' <(fkt_print --no-summary --from 0 t.1)
rmdir /sys/fs/cgroup/fkt_oom
rm -f t t.*
expect 3 fkt_record --ring 8M -o t --trigger 'exit!=0' -- perl -e 'select undef, undef, undef, 0.001 for 1 .. 60; exit 3'
check 'a command that failed leaves a snapshot' [ -s t.1 ]
check 'it says what for' grep -q '^exit!=0, in thread' <(summary t.1 Trigger)

echo '--- both ends of a part by what triggered it'
at=$(summary t.1 Trigger | perl -ne 'print int($1 * 1e9 + 0.5) if /, ([0-9.]+) s from/')
# same_part OPTIONS OPTIONS
same_part() {
	local one two

	read -ra one <<<"$1"
	read -ra two <<<"$2"
	fkt_print "${one[@]}" t.1 >.part
	check "$1 is $2" cmp .part <(fkt_print "${two[@]}" t.1)
	check "and not empty" grep -q perl .part
}
same_part '--range trigger-20ms..trigger-5ms' "--range $((at - 20000000))ns..$((at - 5000000))ns"
same_part '--from trigger-20ms --to trigger-5ms' "--range $((at - 20000000))ns..$((at - 5000000))ns"
same_part '--from 0..trigger-5ms' "--range 0..$((at - 5000000))ns"
same_part '--to trigger-5ms' "--to $((at - 5000000))ns"
same_part '--range trigger-20ms..' '--from trigger-20ms'
expect 2 fkt_print --range trigger-5ms..trigger-20ms t.1
said 'is before that from which to'
expect 1 fkt_print --from 1h --to trigger t.1
said 'is before that from which to'
expect 2 fkt_print --to trigger --to 1s t.1
said 'there is such a time already'

# The end of the command is when it was, however long it takes to get a file for the snapshot.
rm -f t t.*
seq -f t.%.0f 9000 | xargs touch
expect 3 fkt_record --ring 8M -o t --trigger 'exit!=0' -- sh -c 'exit 3'
said 'triggered by exit!=0: '
# As is shown without --from, but where the kernel is slow.
check 'what the command did last is shown' grep -q 'switch_to  *sh\[[0-9]*\] [XZ] ' \
	<(fkt_print --no-summary --from "trigger-$((50 * ${FKT_SLOW:-1}))ms" t.9001)
rm -f t t.*
mkdir snapshots
(cd snapshots && touch t.1 t.2 t.3 t.5 t.x t.4.20)
expect 1 fkt_record --ring 8M -o snapshots/t --trigger 'exit!=0' -- false
check 'it has a number that is free' [ -s snapshots/t.4 ]
check 'and leaves those that are there' [ "$(cat snapshots/t.[1235] | wc -c)" = 0 ]
rm -r snapshots
expect 0 fkt_record --ring 8M -o t --trigger 'exit!=0' -- true
said 'nothing was written'
check 'one that did not leaves none' not compgen -G 't*'

echo '--- many times'
rm -f t t.*
expect 0 fkt_record --ring 8M -k system -o t --trigger sys_enter:getppid --times 3 --every 100ms -- \
	perl -e 'use Time::HiRes "time"; $t = time + 5; getppid while time < $t'
check 'three snapshots, and no more' [ "$(echo t.*)" = 't.1 t.2 t.3' ]
check 'the others are counted' grep -qE 'were met [0-9]{4,} times more' <<<"$err"
for i in 1 2 3; do
	check "t.$i is whole" grep -q '^none' <(summary t.$i Lost)
	check "t.$i begins before its trigger" [ "$(fkt_print --no-summary --code fkt_trigger t.$i | grep -c getppid)" = 1 ]
done

echo '--- at the last moment, and where there is no room'
options=()
triggered sys_enter:getppid taskset 1 chrt -f 50 perl -e 'getppid'
# The ring's own file has its head from the start on; there is room for it, but not for a second one.
mkdir -p small
mount -t tmpfs -o size="$(($(stat -c %s t.1) * 4 / 3 / 1024))k" none small
expect 1 fkt_record --ring 4M -o small/t --trigger sys_enter:getppid -- perl -e 'getppid; select undef, undef, undef, 0.5'
said 'cannot write the snapshot: No space left on device'
said '0 snapshots by triggers'
check 'nothing is left there' not compgen -G 'small/*'
umount small

echo '--- two of them, beside functions'
options=(--trigger 'vfs_read>100s' -F 'vfs_*')
triggered 'sys_clock_nanosleep>100ms' sh -c 'cat /etc/passwd >/dev/null; sleep 0.3'
check 'functions are in it' grep -q 'vfs_read(' <(fkt_print --no-summary --graph --from 0 t.1)

echo '--- what can not be'
rm -f t.*
# wrong SENTENCE OPTION…
wrong() {
	expect 1 fkt_record --ring 8M -o t "${@:2}" -- true
	said "$1"
}
wrong 'there is no function vfs_fsink; is vfs_fsync meant' --trigger 'vfs_fsink>1ms'
wrong 'there is no field sigg; it has sig' --trigger 'signal:signal_generate sigg==1'
wrong 'struct inode has no field sigg' --trigger 'vfs_read file->f_inode->sigg==1'
wrong 'is not a number' --trigger 'vfs_read file->f_path.dentry->d_name.name:string==x'
wrong 'there is no such tracepoint' --trigger 'signal:nothing'
wrong 'there is no such tracepoint; is signal:signal_generate meant' --trigger 'wrong:signal_generate sig==10'
wrong 'is neither a number nor the name of an error' --trigger 'sys_exit:write ret==ENOSUCH'
wrong 'is neither a number nor the name of an error, nor in an enum' --trigger 'timer:hrtimer_start mode==HRTIMER_MODE_ODD'
wrong 'is not a time' --trigger 'vfs_fsync>50'
case $(uname -r) in
6.12.*)
	insmod "$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko"
	wrong 'last function of its module' --trigger 'fkt_event_exit>1ms'
	rmmod fkt_event
	;;
esac
wrong 'there is no system call wrote' --trigger 'sys_exit:wrote ret<0'
wrong 'what fails returns -ENOSPC, not ENOSPC' --trigger 'sys_exit:write ret==ENOSPC'
wrong 'there is no function sys_write; the system call is sys_enter:write, sys_exit:write' --trigger 'sys_write ret<0'
wrong 'or sys_read>TIME, without blanks' --trigger 'sys_read > 1ms'
wrong 'there is no function write; the system call is' --trigger 'write>1ms'
wrong 'a tracepoint has its system before it, SYSTEM:signal_generate' --trigger 'signal_generate sig==10'
wrong 'for \|\|, give --trigger twice' --trigger 'sys_exit:write ret==-28 || ret==-5'
wrong 'comm can be held against one name' --trigger 'sys_exit:write comm!=sh'
wrong 'there is no function hardirq$' --trigger hardirq
expect 1 fkt_record -o t --trigger 'irq>1ms' -- true
said 'it needs --ring SIZE'
expect 1 bash -c "fkt_record --ring 8M -o - --trigger 'irq>1ms' -- true >t.stdout"
said 'it has to be a regular file, by its name'
check 'nothing is written there' [ ! -s t.stdout ]
rm t.stdout
expect 1 fkt_record --ring 8M -o /dev/null --trigger 'irq>1ms' -- true
said 'it has to be a regular file, by its name'
check 'nothing is left behind' not compgen -G 't*'
