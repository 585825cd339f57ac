# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# A trace on standard output: fkt_print at the other end of a pipe shows events while they happen, in order; files, and
# readers that go.

. "$TOP/tests/vm/lib.sh"

slowly='for i in 1 2 3 4 5 6; do calls 100; sleep 1; done'
fkt_record -o - sh -c "$slowly" 2>record.err | fkt_print --no-summary --time=abs - | perl -MTime::Local -MTime::HiRes=time -ne '
	next unless /^(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+\.\d+) +\d+ +\d+ calls            006e /;
	my $late = time - (timelocal(int $6, $5, $4, $3, $2 - 1, $1) + $6 - int $6);
	$n++;
	$max = $late if $late > ($max // -1e9);
	$min = $late if $late < ($min // 1e9);
	END { printf "%d calls, shown %.2f to %.2f s after they were made\n", $n, $min, $max;
	      exit !($n == 600 && $max < 3) }'
status=("${PIPESTATUS[@]}")
cat record.err
check 'fkt_record ends well' [ "${status[0]}" = 0 ]
check 'fkt_print ends well' [ "${status[1]}" = 0 ]
check 'all calls are shown within 3 seconds' [ "${status[2]}" = 0 ]
check 'the command'"'"'s own output is not in the stream' grep -q '^100$' record.err

# The same events through a pipe and a file as from a file, with the same summary.
expect 0 sh -c 'fkt_record -o - workload | cat >t'
recorded=$(recorded)
fkt_print --no-summary - <t >by_stream
check 'fkt_print -' [ $? = 0 ]
fkt_print --no-summary t >by_file
check 'fkt_print of the file' [ $? = 0 ]
check 'they are the same' cmp by_stream by_file
check 'all events are there' [ "$(tail -n +3 by_file | wc -l)" = "$recorded" ]
expect 0 sh -c 'fkt_record -o - workload >t'
check 'standard output may be a file' fkt_print -q t >/dev/null
expect 0 sh -c 'fkt_record -o - workload >>t.append'
check 'or one that is appended to' fkt_print -q t.append >/dev/null
expect 0 sh -c 'fkt_record -o - workload | zstd -q | zstd -dcq | fkt_print -q - >summary'
check 'or a compressor' grep -q '^Lost  *none' summary

# A reader that has seen enough does not disturb the command.
expect 6 bash -c 'fkt_record -o - sh -c "calls 300000; sleep 1; calls 20000; exit 6" 2>err | head -c 3000000 >/dev/null
	exit ${PIPESTATUS[0]}'
cat err
check 'no complaint' not grep -q 'fkt_record: .*: ' <(grep -v ' events, ' err)
check 'idle again' wait_until 10 idle
expect 0 bash -c 'fkt_record -o - calls 5000 2>err | fkt_print - | head -3 >/dev/null; exit ${PIPESTATUS[0]}'

# Not onto a terminal.
run script -qec 'fkt_record -o - true' /dev/null
check 'no trace on a terminal' [ "$status" = 1 ]
check 'it says so' grep -q 'a trace is not for terminals' .out
