# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 900 s
#
# -U of a whole library: all of its functions, while programs run; how long it takes to begin and to end, nothing is lost, and
# nobody is disturbed; more than there may be. Beside bpftrace's uprobes, in one run: as many of each function.

. "$TOP/tests/vm/lib.sh"

program=$TOP/build/tests/vm/user_calls

echo '--- all functions of the C library'
user_calls forever &
forever=$!
background+=($forever)
begin=${EPOCHREALTIME/./}
expect 0 fkt_record -p 13 -o t -U 'libc.so.6:*' ls /
end=${EPOCHREALTIME/./}
check 'nothing is lost' [ "$(lost)" = 0 ]
probes=$(fkt_print --format json --no-summary t | grep -o '"name":"libc.so.6:[^"]*"' | sort -u | wc -l)
fkt_print -q t | grep 'libc.so.6:' | head -5
echo "many: $probes functions were called; begin, ls and end took $(((end - begin) / 1000)) ms"
check 'many of them were called' [ "$probes" -ge 50 ]
check 'it begins and ends in time' between 0 $(((end - begin) / 1000000)) $((120 * ${FKT_SLOW-1}))
fkt_print --no-summary t | grep -o ' libc.so.6:.*' | perl -e '
	my (%in, %out);
	while (<>) { /libc.so.6:(\S+)(.*)/ or next; my ($name, $rest) = ($1, $2); $rest =~ /ret=/ ? $out{$name}++ : $in{$name}++ }
	my @more = grep { $out{$_} > ($in{$_} // 0) } keys %out;
	print "more returns than entries: @more\n" if @more;
	exit @more != 0'
check 'each return has its entry' [ $? = 0 ]
check 'nobody is disturbed' kill -0 $forever
kill $forever
wait $forever
wait_until 20 idle
check 'the module can go' rmmod fkt
check 'it comes back' insmod /run/fkt-vm/fkt.ko

echo '--- more than there may be'
if command -v gcc >/dev/null; then
	for i in {1..16500}; do
		echo ".globl f$i; .type f$i,@function; f$i: nop; ret; .size f$i, .-f$i"
	done | gcc -shared -nostdlib -x assembler - -o many.so
	expect 1 fkt_record -o none -U ./many.so:* true
	said 'more than 16384 functions of programs can.t be traced at a time'
	one_sentence
	begin=${EPOCHREALTIME/./}
	expect 0 fkt_record -o t -U './many.so:f1*' true
	echo "many: 6111 functions that nobody calls, begin and end took $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
fi

echo '--- beside bpftrace'
command -v bpftrace >/dev/null || { echo 'left out: bpftrace is not installed (scripts/deps)'; exit 0; }
BPFTRACE_MAX_PROBES=1024 bpftrace -B line -e "
	uprobe:$program:user_*, uretprobe:$program:user_* { @[probe] = count(); }
	BEGIN { printf(\"ready\\n\"); }" >bpftrace 2>bpftrace.err &
bpftrace=$!
background+=($bpftrace)
if ! wait_until 240 grep -q ready bpftrace; then
	echo 'left out: bpftrace does not begin here:'
	cat bpftrace.err
	exit 0
fi
expect 0 fkt_record -p 12 -o t -U "$program:user_*" user_calls 50
kill -INT $bpftrace
wait $bpftrace
check 'nothing is lost' [ "$(lost)" = 0 ]
# What is 64 times within itself has no more returns, and no more entries here.
sed -n 's/^@\[uprobe:.*:\(user_[a-z]*\)\]: \([0-9]*\)$/entries \1 \2/p; s/^@\[uretprobe:.*:\(user_[a-z]*\)\]: \([0-9]*\)$/returns \1 \2/p' bpftrace |
	sed 's/^entries user_deep 100$/entries user_deep 64/' | sort >theirs
fkt_print --no-summary t | grep -o ' user_calls:user_.*' | perl -ne '
	/user_calls:(\S+)(.*)/ or next;
	my ($name, $rest) = ($1, $2);
	$n{($rest =~ /ret=/ ? "returns" : "entries") . " $name"}++;
	END { print "$_ $n{$_}\n" for sort keys %n }' | sort >ours
cat ours
check 'bpftrace has all functions' [ "$(grep -c entries theirs)" -ge 9 ]
check 'as many as bpftrace has' cmp ours theirs
diff ours theirs
