# SPDX-License-Identifier: GPL-2.0-only
#
# FKT's own threads begin after the recorder has listed the processes: the trace names them all the same.

. "$TOP/tests/vm/lib.sh"

# named FILE: whether both have their names, and are counted under them.
named() {
	check "$1: their names" \
		[ "$(events "$1" | grep -oE ' 1107 rename .* fkt_(flush|sync)$' | sort -u | wc -l)" = 2 ]
	check "$1: they are among those that ran" grep -qE '^ *[0-9]+ fkt_flush ' <(fkt_print -q "$1")
}

expect 0 fkt_record -o t sh -c 'ls -R /usr/include/linux >/dev/null; sleep 1'
named t
check 'no thread is without a name' [ "$(fkt_print -q t | grep -cE '^ *[0-9]+ \? ')" = 0 ]

# Begun with nothing, and turned on later: once is enough.
fkt_record -n -k 0 -o t.late 2>recorder.err &
recorder=$!
background+=("$recorder")
check 'it records' wait_until 30 recording
expect 0 fkt_setmask 0
expect 0 fkt_enable system
sleep 2
stop_recorder
named t.late
check 'once' [ "$(events t.late | grep -cE ' 1107 rename .* fkt_flush$')" = 1 ]

# Standard output is an output like any other.
expect 0 sh -c 'fkt_record -o - true >t.stream'
check 'named in a stream' [ "$(events t.stream | grep -cE ' 1107 rename .* fkt_flush$')" = 1 ]

# A recorder in a PID namespace reads other numbers in /proc, where those of the kernel's threads are somebody else's.
# shellcheck disable=SC2016
expect 0 unshare --fork --pid --mount-proc sh -c 'for i in $(seq 60); do sleep 60 & done
	fkt_record -o t.space --user-stack sys_getppid sh -c "calls 10; sleep 1"'
said 'this is a PID namespace: in the trace, threads have their numbers outside of it'
first_pids() {
	fkt_print -q t.space | awk '/^ *Pid / { pids = 1 } pids && $1 ~ /^[0-9]+$/ && $1 > 0 && $1 < 60 { print $2 }'
}
check 'threads of the kernel have run' [ "$(first_pids | wc -l)" -gt 0 ]
check 'nobody has the name of who has this number in there' [ "$(first_pids | grep -c sleep)" = 0 ]
check 'who has begun since has a name' grep -qE '^ *[0-9]+ calls ' <(fkt_print -q t.space)
