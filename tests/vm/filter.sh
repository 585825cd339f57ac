# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 1500 s
#
# Only what matters: who is asked for is recorded whole, of others there are the process events alone.

. "$TOP/tests/vm/lib.sh"

# recorded_pids FILE: who has events of other layers than process, and how many: "EVENTS PID".
recorded_pids() {
	events "$1" | awk '$3 !~ /^1[12]..$/ && $1 != "***" { n[$2]++ } END { for (pid in n) print n[pid], pid }'
}

# only WHAT FILE PID…: these have such events, and nobody else.
only() {
	check "$1: they are recorded, and nobody else is" diff \
		<(printf '%s\n' "${@:3}" | sort) <(recorded_pids "$2" | awk '{ print $2 }' | sort)
}

# getppids FILE [PID]
getppids() {
	events "$1" | awk -v pid="${2-}" '$3 == "006e" && (pid == "" || $2 == pid) { n++ } END { print n + 0 }'
}

# start COMMAND…: in the background, its process in $started.
start() {
	"$@" >/dev/null &
	started=$!
	background+=("$started")
}

stop() {
	local pid

	for pid in "$@"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}

forever=(perl -e 'getppid, select undef, undef, undef, 0.005 while 1')

echo '--- the command, beside strace'
expect 0 strace -c -f -o strace.out "$(command -v workload)"
awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4, NF == 6 ? $5 : 0 }' strace.out | sort >strace.counts
# On a CPU of its own it would not be switched to if it never slept.
start nice perl -e 'while (1) { getppid for 1 .. 500; select undef, undef, undef, 0.001 }'
other=$started
start "${forever[@]}"
sleeper=$started
for options in '' '--lanes 1' '--args'; do
	# shellcheck disable=SC2086
	expect 0 fkt_record -o t -p 11 --only-command $options "$(command -v workload)"
	check 'nothing was lost' [ "$(lost)" = 0 ]
	fkt_print --no-summary --time=cycles t | perl -ne '
		next unless /^ *-?\d+ +\d+ +(\d+) .{16} ([0-9a-f]{4,5})  (\S+) *(.*)$/;
		my ($pid, $code, $name, $args) = ($1, hex $2, $3, $4);

		# All that is there is ours, from when it is what it will be. What it was before is of fkt_record.
		$begun = 1 if $name eq "sys_execve" && $code < 0x400;
		next if $code >= 0x800 || !$begun;
		if ($code < 0x400) {
			$open{$pid} = $name;
		} elsif ($open{$pid} && $open{$pid} eq $name) {
			$calls{$name}++;
			$errors{$name}++ if $args =~ /^= -\d+ E/;
			delete $open{$pid};
		}
		END { print substr($_, 4), " $calls{$_} ", $errors{$_} // 0, "\n" for keys %calls }' | sort >fkt.counts
	check 'strace counted something' [ -s strace.counts ]
	check "the same calls are counted ($options)" diff strace.counts fkt.counts
	check 'nothing of the others is there' [ "$(recorded_pids t | grep -cE " ($other|$sleeper)$")" = 0 ]
	check 'but the switches to them are' grep -qE "switch_to .* ==> .*\[$other\]" <(events t)
	check 'and from them' grep -qE "switch_to .*\[$sleeper\] .* ==> " <(events t)
	check 'and who woke them' grep -qE "wakeup .*\[$sleeper\]" <(events t)
	check 'and nothing of the idle tasks' [ "$(recorded_pids t | grep -c ' 0$')" = 0 ]
done
check 'the summary says whom' [ "$(summary t Filter)" = --only-command ]
same_by_all t
awk -v pid="$other" '$1 == pid' <(fkt_print -q t) | head -3
stop "$other" "$sleeper"

echo '--- what comes of the command, in sessions of its own'
expect 0 fkt_record -o t --only-command sh -c '{ (setsid sh -c "calls 30; exec calls 12" & ); calls 100; } | cat'
check 'all of it is there' [ "$(getppids t)" = 144 ] # with one of each shell's own

echo '--- processes and threads'
start "${forever[@]}"
one=$started
start "${forever[@]}"
two=$started
start python3 -c 'import os, threading, time
def call():
	while True:
		os.getppid()
		time.sleep(0.01)
threading.Thread(target=call).start()
call()'
threads=$started
two_threads() {
	[ "$(find "/proc/$threads/task" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
}
wait_until 20 two_threads
tids=("/proc/$threads/task/"*)
tids=("${tids[@]##*/}")
check 'there are threads' [ ${#tids[@]} -ge 2 ]
expect 0 fkt_record -o t --pid "$one" sleep 0.5
only --pid t "$one"
check 'its calls are' [ "$(getppids t "$one")" -gt 20 ]
check 'the summary says whom' [ "$(summary t Filter)" = "--pid $one" ]
expect 0 fkt_record -o t --pid "$one" --pid "$two" sleep 0.5
only 'two --pid' t "$one" "$two"
expect 0 fkt_record -o t -p 11 --pid "$threads" sleep 0.3
only 'all threads of it' t "${tids[@]}"
expect 0 fkt_record -o t --tid "${tids[-1]}" sleep 0.3
only --tid t "${tids[-1]}"
expect 0 fkt_record -o t --tid "${tids[-1]},$one" sleep 0.5
only 'two --tid' t "${tids[-1]}" "$one"
stop "$threads"
# A shell that makes new ones.
start sh -c 'while :; do calls 7; sleep 0.1; done'
shell=$started
expect 0 fkt_record -o t --pid "$shell" sleep 1
check '--pid: it has no getppid of its own' [ "$(getppids t)" = 0 ]
expect 0 fkt_record -o t --pid "$shell" --children sleep 2
check '--children: those of its children are there' [ "$(getppids t)" -ge 7 ]
stop "$shell"

the_rest_takes_long

echo '--- names, users, CPUs'
start perl -e '$0 = "named"; getppid, select undef, undef, undef, 0.005 while 1'
named=$started
sleep 0.5
expect 0 fkt_record -o t --comm named sleep 0.5
only --comm t "$named"
expect 0 fkt_record -o t --comm later perl -e 'getppid for 1 .. 50; $0 = "later"; getppid for 1 .. 30; $0 = "gone"; getppid for 1 .. 20'
check 'a name counts from when it is taken until it is given up' [ "$(getppids t)" = 30 ]
start setpriv --reuid 12345 --clear-groups "${forever[@]}"
user=$started
wait_until 10 grep -q '^Uid:.*12345' "/proc/$user/status"
expect 0 fkt_record -o t --uid 12345 sleep 0.5
only --uid t "$user"
expect 0 fkt_record -o t --uid 12345 --comm named sleep 0.5
check 'both, which is nobody' [ -z "$(recorded_pids t)" ]
expect 0 fkt_record -o t --pid "$one,$user,$named" --uid root --comm perl sleep 0.5
only 'all three' t "$one"
expect 0 fkt_record -o t -p 11 --cpu 1 calls -c 0 50
check '--cpu: nothing of the other CPU' [ "$(events t | awk '$1 == 0 && $3 !~ /^1[12]..$/' | wc -l)" = 0 ]
check 'but its switches' [ "$(events t | awk '$1 == 0 && $3 == "1100"' | wc -l)" -gt 0 ]
expect 0 fkt_record -o t --cpu 1 calls -c 1 500
check '--cpu: what is there is' [ "$(getppids t)" -ge 500 ]
check '--cpu: noise elsewhere is not known, which is said' grep -q 'Interrupts were recorded with --cpu[ =]1 alone' <(fkt_print --noise t)
stop "$user" "$named"

echo '--- cgroups'
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/fkt_test/inner
echo "$one" >/sys/fs/cgroup/fkt_test/inner/cgroup.procs
expect 0 fkt_record -o t --cgroup /sys/fs/cgroup/fkt_test sleep 0.5
only --cgroup t "$one"
expect 0 fkt_record -o t --cgroup fkt_test/inner sh -c 'sleep 0.3; echo $$ >/sys/fs/cgroup/fkt_test/inner/cgroup.procs; exec calls 40'
check 'who comes into it' [ "$(getppids t | awk -v n="$(getppids t "$one")" '{ print $1 - n }')" = 40 ]
# As container engines call them.
id=0123abcdef$(printf '%054d' 7)
mkdir -p "/sys/fs/cgroup/fkt_test/docker-$id.scope/init.scope"
echo "$two" >"/sys/fs/cgroup/fkt_test/docker-$id.scope/init.scope/cgroup.procs"
for name in 0123abcdef00 "$id" "docker-$id.scope"; do
	[ "$name" != "docker-$id.scope" ] || name=fkt_test/$name
	expect 0 fkt_record -o t --cgroup "$name" sleep 0.5
	only "--cgroup $name" t "$two"
done
expect 1 fkt_record -o t --cgroup 0123abcdee sleep 0
said 'there is no such container, nor /sys/fs/cgroup/0123abcdee'
expect 1 fkt_record -o t --cgroup 000000 sleep 0
said 'there is no such container'
mkdir "/sys/fs/cgroup/fkt_test/libpod-0123abce$(printf '%056d' 7).scope"
expect 1 fkt_record -o t --cgroup 0123abc sleep 0
said 'more than one begins so: .*docker-.*, and .*libpod-|more than one begins so: .*libpod-.*, and .*docker-'
rmdir /sys/fs/cgroup/fkt_test/libpod-*
expect 1 fkt_record -o t --cgroup fkt_tset sleep 0
said 'there is no /sys/fs/cgroup/fkt_tset; is /sys/fs/cgroup/fkt_test meant'
expect 1 fkt_record -o t --cgroup /../../../tmp sleep 0
said 'that is no cgroup of version 2'
expect 0 fkt_record -o t --cgroup fkt_test/inner sh -c "echo $one >/sys/fs/cgroup/cgroup.procs; sleep 0.3; rmdir /sys/fs/cgroup/fkt_test/inner; sleep 0.2"
check 'one may go away meanwhile' [ ! -e /sys/fs/cgroup/fkt_test/inner ]

echo '--- the mask, functions, the ring'
start_recorder -n -o t --pid "$one"
fkt_setmask 0
calls 10 >/dev/null
fkt_enable system
sleep 0.5
calls 10 >/dev/null
stop_recorder
only 'masks that change' t "$one"
for function in vfs_read 'vfs_*'; do
	expect 0 fkt_record -o t -p 12 -k system -F "$function" --only-command cat /etc/passwd
	check "-F $function: nothing of others" [ "$(recorded_pids t | grep -cE " ($one|$two|0)$")" = 0 ]
	check "-F $function: but its own" grep -q ' vfs_read' <(events t)
done
expect 0 fkt_record -o t -k 0 --graph vfs_read --graph-depth 3 --only-command cat /etc/passwd
events t | grep vfs_read | head
check '--graph: there are entries' [ "$(events t | grep -cE ' vfs_read( +[^= ].*)?$')" -ge 1 ]
check '--graph: as many exits' [ "$(events t | grep -cE ' vfs_read +=')" = "$(events t | grep -cE ' vfs_read( +[^= ].*)?$')" ]
expect 0 fkt_record -o t --ring 4M --only-command calls 77
check '--ring: the command' [ "$(getppids t)" = 77 ]
check '--ring: nobody else' [ "$(recorded_pids t | grep -cE " ($one|$two|0)$")" = 0 ]
rm -f t.*
expect 0 fkt_record -o t --ring 4M --pid "$one" --after 200ms --trigger 'sys_exit:openat ret==-ENOENT' -- sh -c 'sleep 0.2; cat /no/such/file; sleep 0.2'
said 'triggered by'
only 'a trigger in another one, which fires' t.1 "$one"
echo 0 >/sys/devices/system/cpu/cpu1/online
expect 0 fkt_record -o t --only-command sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online; exec calls -c 1 55'
check 'a CPU that comes' [ "$(getppids t)" = 56 ] # with the shell's own
check 'nobody else' [ "$(recorded_pids t | grep -cE " ($one|$two|0)$")" = 0 ]

echo '--- time'
expect 0 fkt_record -o t --only-command sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'
fkt_print -q t | head -30
check 'the time of others is not in user mode' grep -q '"user_ns":null' <(fkt_print -q --format json t | grep "\"tid\":$one,")
stop "$one" "$two"

echo '--- what can not be'
expect 1 fkt_record -o t --pid 999999 true
said '--pid 999999: there is no such process'
expect 1 fkt_record -o t --tid 999999 true
said 'there is no such thread'
expect 2 fkt_record -o t --comm a-name-that-is-too-long true
said "names of threads have 15 letters at most.* 'a-name-that-is-' may be meant"
expect 2 fkt_record -o t --uid no-such-user true
said "there is no user 'no-such-user'"
expect 2 fkt_record -o t --cpu x true
said 'is not a list of CPUs'
expect 1 fkt_record -o t --cpu 4000 true
said 'there is no such CPU'
expect 2 fkt_record -o t --children true
said 'whose'
expect 2 fkt_record -o t -n --only-command
said '-n runs no command'
