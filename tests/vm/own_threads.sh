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
