# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# How a recording may end: by the size limit, SIGINT, SIGTERM, with -n or with a command. What was recorded is kept.

. "$TOP/tests/vm/lib.sh"

whole() {
	check "fkt_print reads $1 to its end" fkt_print -q "$1" >summary
}

# -n: until a signal.
for signal in INT TERM HUP; do
	start_recorder -n -o t.$signal
	calls 1000 >/dev/null
	stop_recorder $signal
	check "SIG$signal ends it with status 0" [ "$status" = 0 ]
	whole t.$signal
	check 'it has the calls' [ "$(count t.$signal 006e)" -ge 1000 ]
	check 'idle again' wait_until 10 idle
done

# Not by what it was told to ignore.
trap '' HUP
start_recorder -n -o t.nohup
trap - HUP
kill -HUP "$recorder"
calls 1000 >/dev/null
stop_recorder
check 'nohup: it ends with SIGINT' [ "$status" = 0 ]
whole t.nohup
check 'and has what came after SIGHUP' [ "$(count t.nohup 006e)" -ge 1000 ]

# Nor does it wait for a command that has ended, where nobody wants to hear of children.
expect 3 timeout 60 perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' fkt_record -o t.children sh -c 'exit 3'
# The command has its signals as without FKT.
for signal in CHLD HUP INT PIPE TERM USR1 XFSZ; do
	ignoring=(perl -e '$SIG{shift()} = "IGNORE"; exec @ARGV' $signal)
	expect 0 "${ignoring[@]}" grep '^Sig[BI]' /proc/self/status
	without=$out
	expect 0 "${ignoring[@]}" fkt_record --ring 1M -o t.signals grep '^Sig[BI]' /proc/self/status
	check "SIG$signal: as without" [ "$out" = "$without" ]
done
whole t.children

# Files of others: what is written to already, and what the kernel protects.
cp t.children t.other
expect 1 flock t.other fkt_record -o t.other true
said 't.other: another recording is written there'
check 'it is as it was' cmp t.children t.other
echo 2 >/proc/sys/fs/protected_regular
mkdir -m 1777 shared
setpriv --reuid 65534 --clear-groups sh -c 'echo text >shared/t; chmod 666 shared/t'
expect 1 fkt_record -o shared/t true
said 'shared/t: cannot write a trace there: Permission denied'
check 'it is as it was' [ "$(cat shared/t)" = text ]

# A command is told as well, and its status is the recorder's.
start_recorder -o t.command sh -c 'trap "exit 5" TERM; >ready; while :; do sleep 0.1; done'
wait_until 20 [ -e ready ]
stop_recorder TERM
check 'SIGTERM goes to the command' [ "$status" = 5 ]
whole t.command

# A command that does not care: the recording has ended, a second signal ends the waiting.
start_recorder -o t.deaf sh -c 'trap "" TERM INT; >deaf; sleep 1000 & wait; wait'
wait_until 20 [ -e deaf ]
kill -TERM "$recorder"
wait_until 20 grep -q ' events, ' recorder.err
check 'the summary comes before the command ends' [ $? = 0 ]
whole t.deaf
stop_recorder TERM
check 'a second signal ends the waiting' [ "$status" = $((128 + 15)) ]
kill "$(pgrep -x sleep)" 2>/dev/null

# The size limit: the recording ends, the command does not.
expect 7 fkt_record -s 1M -o t.size sh -c 'calls 150000; exit 7'
said 't.size: the size limit was reached'
check 'the command ran to its end' [ "$out" = 150000 ]
whole t.size
pages=$(perl -ne 'print $1 if /, (\d+) pages/' .err)
check 'as many pages as the limit allows' [ "$pages" = 256 ]
check 'the file is little larger' between $((1 << 20)) "$(stat -c %s t.size)" $(((1 << 20) + (4 << 20)))
grep '^Events\|^Lost' summary
check 'the events are those of the pages' grep -qE '^Events .* in 256 pages, 1048576 bytes' summary
for bad in 0 1 4095 12Q x -1 99999999999999999999 '' 1Mx; do
	expect 2 fkt_record -s "$bad" -o none true
done
check 'no trace is left' [ ! -e none ]
expect 0 fkt_record -s 4K -o t.tiny true
whole t.tiny
