# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The newest events are kept in memory and become a trace in the end: none of them is missing, what was overwritten is
# counted to the event, and the trace says from when on it is complete.

. "$TOP/tests/vm/lib.sh"

# Makes so many system calls that say their number, of a file whose number nobody else has.
cat >numbered <<'END'
	use POSIX;
	my ($calls) = @ARGV;
	system "true";
	dup2(POSIX::open("/dev/zero", O_RDONLY), 77) or die;
	open my $file, "<&=77" or die;
	sysseek $file, $_, 0 for 1 .. $calls;
END

# numbers FILE OPTION…: those that the trace has, in its order.
numbers() {
	fkt_print --no-summary --time=cycles "${@:2}" "$1" | sed -nE 's/.* sys_lseek +fd=77 offset=([1-9][0-9]*) .*/\1/p'
}

# last_ones CALLS FILE: the numbers in it are those from some one on to CALLS, all of them.
last_ones() {
	perl -e '
		my $calls = shift;
		my @n = <>;
		chomp @n;
		for my $i (0 .. $#n) {
			next if $n[$i] == $calls - $#n + $i;
			print "number $i of ", scalar @n, " is $n[$i], not ", $calls - $#n + $i, "\n";
			exit 1;
		}
		exit !@n' "$@"
}

echo '--- more than there is room for'
calls=60000
expect 0 fkt_record --ring 512K --args -o t perl numbered $calls
cat .err
numbers t >n
check "of $calls calls the last $(wc -l <n) are there" last_ones $calls n
check 'as many as there is room for' between 1000 "$(wc -l <n)" 30000
check 'nothing is lost' grep -q '^none' <(summary t Lost)
pages=$(sed -nE 's/.*, ([0-9]+) pages .*/\1/p' .err)
check "it has taken no more memory than it was given: $pages pages" [ "$pages" -le $((128 + 1)) ]
overwritten=$(summary t Ring | sed -nE 's/^([0-9]+) events were overwritten.*/\1/p')
events=$(recorded)
echo "$events events are left, $overwritten were overwritten"
# Calls and returns; the rest is the timer's and what else goes on.
check 'what is left and what was overwritten make what happened' \
	between $((2 * calls)) $((events + overwritten)) $((2 * calls + 60000))
check 'the listing begins where nothing was overwritten' not grep -q '^\*\*\*' <(events t)
fkt_print --no-summary --time=cycles --from 0 t >whole
check 'each CPU says where it begins' grep -q '^\*\*\* lane [0-9]* (CPU [0-9]*): what came before was overwritten \*\*\*' whole
check 'its threads have names' grep -qE 'perl +[0-9a-f]{4} +sys_lseek' whole
check 'the head says how it was recorded' grep -q overwrite <(strings -n 5 t)
same_by_all t
from=$(fkt_query t 'SELECT 1' 2>&1 >/dev/null | sed -nE 's/.*: before time ([0-9]+), there is only what some CPUs have.*/\1/p')
check 'fkt_query says from when on all CPUs are there' [ -n "$from" ]
check 'which is where the listing begins' [ "$(fkt_query --format=csv t "SELECT count(*) FROM events WHERE time > ${from:-0}" 2>/dev/null |
	tail -1)" = "$(events t | grep -vc '^\*')" ]

echo '--- parts of it'
pid=$(sed -nE 's/^ *[0-9]+ +[0-9]+ +([0-9]+) perl +[0-9a-f]+ +sys_lseek.*/\1/p' whole | tail -1)
expect 0 fkt_extract t -p "$pid" -o part
check 'all of a process are there' cmp <(numbers t --from 0) <(numbers part --from 0)
check 'which says, too, where it begins' grep -q 'what came before was overwritten' <(fkt_print --no-summary --from 0 part)

echo '--- less'
expect 0 fkt_record --ring 8M --args -o t perl numbered 1000
check 'all calls are there' [ "$(numbers t | wc -l)" = 1000 ]
check 'nothing was overwritten' [ -z "$(summary t Ring)" ]
check 'nor does the listing say so' not grep -q '^\*\*\*' <(events t)
check 'a thread that has ended has its name' grep -q ' true ' <(fkt_print --no-summary t)

# What stands before and behind the pages.
others=$(($(wc -c <t) / 1024 - $(sed -nE 's/.*, ([0-9]+) pages .*/\1/p' .err) * 4))

echo '--- the same without a size, and elsewhere'
expect 0 fkt_record --on-full overwrite -p 4 --args -o t perl numbered 20000
check 'the last ones are there' last_ones 20000 <(numbers t)
fkt_record --ring 256K --args -o - perl numbered 20000 2>.err | cat >t
check 'through a pipe, too' last_ones 20000 <(numbers t)
check 'read from a pipe as well' last_ones 20000 <(cat t | fkt_print --no-summary --time=cycles - | sed -nE 's/.* sys_lseek +fd=77 offset=([1-9][0-9]*) .*/\1/p')

the_rest_takes_long

echo '--- functions on all CPUs, until a signal comes'
start_recorder --ring 128K -k system,functions -F 'vfs_*' -n -o t
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" sh -c 'while :; do head -c 300 /etc/passwd >/dev/null; done' &
	background+=($!)
done
sleep 5
stop_recorder
check 'it ends well' [ $status = 0 ]
check 'nothing was lost' [ "$(lost recorder.err)" = 0 ]
check 'much was overwritten' [ "$(summary t Ring | sed -nE 's/^([0-9]+) .*/\1/p')" -gt 1000 ]
wait_until 20 idle

echo '--- where it can'\''t be written'
expect 1 bash -c "ulimit -Sf $((others + 100)); exec fkt_record --ring 512K --args -o t perl numbered 60000"
said 'File too large'
check 'what there is can be read' [ "$(fkt_print --no-summary t | wc -l)" -gt 100 ]
wait_until 20 idle
check 'and nothing holds the module' idle

echo '--- what makes no sense'
expect 2 fkt_record --ring 4K true
said 'KB are needed'
for large in 1T 16777215T; do
	expect 2 fkt_record --ring $large true
	said "that is too much for $(nproc) CPUs; $((4 * $(nproc))) GB are possible"
done
expect 2 fkt_record --ring 1M -p 4 true
said 'both say how large'
expect 2 fkt_record --ring 1M -s 1M true
said '-s ends the recording'
expect 2 fkt_record --ring 1M --lanes 1 true
said 'not with --lanes=1'
expect 2 fkt_record --ring 1M --on-full pause true
said 'not --on-full=pause'
