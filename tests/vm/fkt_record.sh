#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# In a guest: what fkt_record and the mask tools do with good and with bad input. Prints "ok …" or "not ok …" for each
# expectation; exit status 1 when one failed.
# shellcheck disable=SC2016 # commands for other shells

work=/mnt/disk/fkt_record
mkdir -p "$work" && cd "$work" || exit 1
failed=0

report() { # RESULT NAME
	if [ "$1" = 0 ]; then
		printf 'ok %s\n' "$2"
	else
		printf 'not ok %s\n' "$2"
		failed=1
	fi
}

# expect NAME STATUS PATTERN COMMAND…: the command exits with STATUS, and its stderr matches PATTERN, if there is one.
expect() {
	local name=$1 status=$2 pattern=$3 got
	shift 3
	"$@" >stdout 2>stderr </dev/null
	got=$?
	if [ "$got" = "$status" ] && { [ -z "$pattern" ] || grep -Eq -- "$pattern" stderr; }; then
		report 0 "$name"
	else
		report 1 "$name (exit status $got, not $status; stderr: $(cat stderr))"
	fi
}

# check NAME COMMAND…: the command succeeds.
check() {
	local name=$1
	shift
	"$@" >stdout 2>stderr </dev/null
	report $? "$name"
}

# shellcheck disable=SC2317 # check calls it
readable() {
	fkt_print "$1" >listing 2>warnings && [ ! -s warnings ] && grep -q sys_ listing
}

# The recorder runs the probes: its trace's file is there, and has its head.
wait_recording() {
	local i
	for ((i = 0; i < 200; i++)); do
		fkt_enable process 2>/dev/null && return
		sleep 0.1
	done
	echo "no recording began" >&2
	return 1
}

summary='events, .* pages .* 0 lost'

# Exit statuses
expect 'status of the command' 3 "$summary" fkt_record -o a sh -c 'exit 3'
check 'its trace is readable' readable a
expect 'command killed by a signal' 143 "$summary" fkt_record -o a sh -c 'kill -TERM $$'
expect 'default output' 0 '^fkt_record: trace_file: ' fkt_record true
check 'its name' test -s trace_file
check 'mode of the file' test "$(stat -c %a a)" = 600

# Commands that cannot run
expect 'no such command' 127 'nosuch: command not found' fkt_record -o b nosuch
check 'no file' test ! -e b
cp a kept
expect 'no such command, and a file' 127 'not found' fkt_record -o a nosuch
check 'the file is as it was' cmp a kept
printf '#!/no/interpreter\n' >script && chmod +x script
expect 'no interpreter' 127 'script: No such file' fkt_record -o b ./script
check 'no file is left' test ! -e b
expect 'not executable' 126 'Permission denied' fkt_record -o b /etc/passwd
expect 'a directory' 126 'Is a directory' fkt_record -o b /etc
check 'a script without #!' sh -c 'echo exit 0 >plain && chmod +x plain && fkt_record -o b ./plain'

# Usage
expect 'unknown layer' 2 "unknown layer 'nonsense'; the layers are system" fkt_record -k nonsense true
expect 'nearly a layer' 2 "unknown layer 'sockets' .is socket meant.*; the layers" fkt_record -k sockets true
# The lowest bit that the table of layers does not have.
free_key=$(perl -ne '$used{$1} = 1 if /^\tX\(\w+, (\d+), "\w+", "/;
	END { for (0 .. 31) { next if $used{$_}; printf "%#x", 1 << $_; last } }' "$TOP/include/fkt/codes.h")
expect 'bit without a layer' 2 'bits without a layer' fkt_record -k "$free_key" true
expect 'POW too small' 2 'from 2 to 20' fkt_record -p 1 true
expect 'POW too large' 2 'from 2 to 20' fkt_record -p 21 true
expect 'size of nonsense' 2 'not a size' fkt_record -s 5X true
expect 'no command' 2 'which command' fkt_record
expect 'a command with -n' 2 'runs no command' fkt_record -n true

# Outputs
expect 'output: a directory' 1 'is a directory' fkt_record -o "$work" true
expect 'output: in no directory' 1 'No such file' fkt_record -o /nodir/x true
expect 'output: may not be created' 1 'cannot write a trace there' fkt_record -o /sys/x true
mkdir -p /run/ro && mount -t tmpfs -o ro none /run/ro
expect 'output: read-only file system' 1 'Read-only file system' fkt_record -o /run/ro/x true
expect 'output: mounted device' 1 'in use; is it mounted' \
	fkt_record -o "$(awk '$2 == "/mnt/disk" { print $1 }' /proc/mounts)" true
expect 'output: terminal' 0 '' script -qec 'fkt_record -o - true; echo "status $?"' typescript
check 'a terminal is refused' grep -q 'not for terminals' typescript
check 'with status 1' grep -q 'status 1' typescript
expect 'size limit' 5 'the size limit was reached' fkt_record -s 16K -o l sh -c 'find /usr/include/linux; exit 5'
check 'is kept' readable l

# One at a time, and masks
expect 'mask tools without a recording' 1 'no recording is running' fkt_enable system
fkt_record -o first -n 2>first.err &
recorder=$!
wait_recording
expect 'a second recorder' 1 'another recording is running' fkt_record -o second true
check 'leaves no file' test ! -e second
expect 'fkt_setmask' 0 '' fkt_setmask 0
expect 'fkt_enable' 0 '' fkt_enable system
expect 'fkt_disable' 0 '' fkt_disable system
expect 'fkt_disable all' 0 '' fkt_disable all
cat /usr/include/linux/fs.h >/dev/null
expect 'fkt_enable all' 0 '' fkt_enable all
ls /usr/include/linux >/dev/null
expect 'fkt_disable all, again' 0 '' fkt_disable all
expect 'fkt_disable nonsense' 2 'unknown layer' fkt_disable nonsense
kill -INT $recorder
wait $recorder
check 'SIGINT ends -n with 0' test $? = 0
check 'the first is readable' readable first
check 'changes of the mask are in it' grep -q fkt_setmask listing
check 'all is every layer' grep -q 'fkt_setmask .*mask=0xe0003fff' listing
check 'and what it turns on is recorded' grep -q 'vfs_open\|vfs_read' listing

# Signals
# In a script's background SIGINT is ignored; env takes that back.
env --default-signal=INT fkt_record -o s sleep 60 2>/dev/null &
recorder=$!
wait_recording
kill -INT $recorder
wait $recorder
check 'SIGINT goes on to the command' test $? = 130
check 'and keeps the trace' readable s
fkt_record -o s sleep 60 2>/dev/null &
recorder=$!
wait_recording
kill -TERM $recorder
wait $recorder
check 'SIGTERM too' test $? = 143
check 'and keeps the trace too' readable s
fkt_record -o s sh -c 'trap "" TERM; sleep 5; sleep 5' 2>s.err &
recorder=$!
wait_recording
sleep 0.5
kill -TERM $recorder
sleep 2
check 'the recording ends though the command does not' grep -Eq "$summary" s.err
kill -TERM $recorder
wait $recorder
check 'a second signal ends the waiting' test $? = 143
fkt_record -o s -n 2>/dev/null &
recorder=$!
wait_recording
kill -KILL $recorder
wait $recorder 2>/dev/null
for ((i = 0; i < 100; i++)); do
	fkt_record -o after true 2>/dev/null && break
	sleep 0.1
done
check 'after kill -9 the device is free' readable after
check 'and the trace is readable to its end' sh -c 'fkt_print --summary s | grep -q Events'

# Rights
expect 'not root' 1 'not allowed; only root may trace' \
	setpriv --reuid 65534 --clear-groups "$(command -v fkt_record)" -o /tmp/x true

[ -n "${FKT_WHOLE-yes}" ] || { echo 'in part: what takes long was left out'; exit $failed; }

# No space
mkdir -p /run/small && mount -t tmpfs -o size=4M none /run/small
dd if=/dev/zero of=/run/small/fill bs=1k count=4000 2>/dev/null
expect 'no space for the head' 1 'No space left' fkt_record -o /run/small/t true
check 'no file without a head' test ! -e /run/small/t
truncate -s $(((4 << 20) - $(stat -c %s a) - (200 << 10))) /run/small/fill
expect 'no space for the pages' 1 'No space left on device; the trace ends there' \
	fkt_record -o /run/small/t calls 50000
check 'what fitted is readable' sh -c 'fkt_print --summary /run/small/t | grep -q Events'
umount /run/small

# Streams
expect 'to a pipe' 4 "$summary" bash -o pipefail -c 'fkt_record -o - sh -c "echo said; exit 4" | cat >p'
check 'what the command says is not in it' sh -c '! grep -q "^said" p'
check 'it is readable' readable p
expect 'to a redirected file' 0 "$summary" sh -c 'fkt_record -o - true >p'
check 'which is readable' readable p
expect 'to the end of a file' 0 "$summary" sh -c 'printf 12345 >p; fkt_record -o - true >>p'
tail -c +6 p >q
check 'where it is readable' readable q
expect 'a reader who leaves' 4 "$summary" \
	bash -o pipefail -c 'fkt_record -o - sh -c "sleep 2; ls -R /usr/include/linux >/dev/null; exit 4" |
		head -c $(($(stat -c %s a) + 8192)) >/dev/null'
expect 'to nowhere' 0 "$summary" fkt_record -o /dev/null true
fkt_record -o - sleep 30 2>/dev/null | fkt_print --no-summary - >live &
wait_recording
for ((i = 0; i < 100; i++)); do
	grep -q 'exec .*sleep' live && break
	sleep 0.1
done
check 'events come while the command runs' grep -q 'exec .*sleep' live
pkill -x sleep
wait

# The paper's other options
expect 'one lane, arguments, a small buffer' 0 'events' fkt_record --lanes 1 --args -p 2 -o a ls /
check 'are readable' readable a
grep ' T ' /proc/kallsyms | grep -v '\[' | sed 's/ vfs_read$/ fkt_test_gone/' >map
expect 'System.map: added functions' 0 '1 functions added' fkt_record -S map -o a true
awk '$3 == "vfs_read" { $1 = "ffffffff81000010" } { print }' /proc/kallsyms | grep -v '\[' >map
expect 'System.map: incoherences' 0 'vfs_read should be at' fkt_record -S map -o a true
expect 'System.map: foreign file' 0 'no System.map of a kernel' fkt_record -S /etc/passwd -o a true
expect 'System.map: no file' 1 'No such file' fkt_record -S /nonexistent -o a true

exit $failed
