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

echo '--- messages, and the end of the command'
triggered 'log:something odd' sh -c 'sleep 0.1; echo "here is something odd" >/dev/kmsg; sleep 0.2'
rm -f t t.*
expect 3 fkt_record --ring 8M -o t --trigger 'exit!=0' -- sh -c 'exit 3'
check 'a command that failed leaves a snapshot' [ -s t.1 ]
check 'it says what for' grep -q '^exit!=0, in thread' <(summary t.1 Trigger)
rm -f t t.*
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
wrong 'there is no such tracepoint' --trigger 'signal:nothing'
wrong 'is neither a number nor the name of an error' --trigger 'sys_exit:write ret==ENOSUCH'
wrong 'is not a time' --trigger 'vfs_fsync>50'
case $(uname -r) in
6.12.*)
	insmod "$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko"
	wrong 'last function of its module' --trigger 'fkt_event_exit>1ms'
	rmmod fkt_event
	;;
esac
wrong 'there is no system call wrote' --trigger 'sys_exit:wrote ret<0'
expect 1 fkt_record -o t --trigger 'irq>1ms' -- true
said 'it needs --ring SIZE'
check 'nothing is left behind' not compgen -G 't*'
