# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# fkt_top, live: its recording begins, passes options on, and ends: by --count, Ctrl-C, q, and when fkt_top is killed.

. "$TOP/tests/vm/lib.sh"

# heads: how many intervals were printed.
heads() {
	grep -c ' events, 0 lost ' .out
}

expect 0 fkt_top --count 2 --rows 5
check 'two intervals' [ "$(heads)" = 2 ]
check 'what it recorded' grep -q 'sys_' .out
check 'the recorder says how it was' grep -q ' events, .* 0 lost' .err
check 'nobody records' wait_until 10 idle

echo '--- all calls, until Ctrl-C'
fkt_top --format csv --view calls --rows 0 -d 0.5 >top.csv 2>top.err &
top=$!
check 'it records' wait_until 20 grep -q '^idle' top.csv
for _ in 1 2 3 4 5; do
	calls 1000 >/dev/null
	sleep 0.3
done
sleep 1
kill -INT $top
wait $top
check "it ends well: $?" [ $? = 0 ]
made=$(awk -F, '$1 == "sys_getppid" { all = $NF; sum += $5 + $6 } END { print all + 0 }' top.csv)
check "all calls: $made" [ "$made" = 5000 ]
check 'nobody records' wait_until 10 idle

echo '--- options of the recording'
calls 100000000 >/dev/null &
busy=$!
expect 0 fkt_top --pid $busy --count 2 -d 0.5 --rows 0 --view calls
kill $busy
check 'of one process alone' grep -q '^sys_getppid' .out
check 'and of no other one' not grep -q '^sys_write' .out
expect 0 fkt_top -k system -F 'vfs_read' --stack switch --count 2 --rows 3 --view functions,stacks
check 'a function' grep -q '^vfs_read' .out
check 'stacks with names' grep -q '__schedule' .out
expect 1 fkt_top -k nonsense
said 'unknown layer'
expect 1 fkt_top -F no_such_function
said 'no_such_function'
check 'nobody records' wait_until 10 idle

echo '--- on a terminal'
rm -f screen
(wait_until 30 grep -q 'events' screen; printf '\t'; wait_until 30 grep -q 'All: time' screen; printf q) | timeout $((90 * FKT_SLOW)) script -qec 'TERM=xterm fkt_top; stty -a | grep -oE "(^| )-?echo "; echo status $?' /dev/null >screen
check 'there were tables' grep -q 'All: time' screen
check 'it is as it was' grep -qE '(^| )echo' screen
check 'nobody records' wait_until 10 idle

echo '--- killed'
fkt_top -b >top.out 2>&1 &
top=$!
check 'it records' wait_until 20 grep -q '^idle' top.out
kill -9 $top
check 'its recorder ends, too' wait_until 20 idle
