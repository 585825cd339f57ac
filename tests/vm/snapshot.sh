# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Snapshots of a ring while it goes on: each is a whole trace, together they have every event, and none is missing from where
# one says that it is complete.

. "$TOP/tests/vm/lib.sh"

# Makes system calls that say their number, of a file whose number nobody else has, for as long as it is let.
cat >numbered <<'END'
	use POSIX;
	dup2(POSIX::open("/dev/zero", O_RDONLY), 77) or die;
	open my $file, "<&=77" or die;
	for (my $i = 1;; $i++) {
		sysseek $file, $i, 0;
		open my $begun, ">", "begun" if $i == 1;
		select undef, undef, undef, $ARGV[0] if $ARGV[0] && !($i % 50);
	}
END

# begin_numbers [PAUSE]: in the background.
begin_numbers() {
	rm -f begun
	perl numbered "$@" &
	background+=($!)
	wait_until 60 [ -e begun ]
}

# numbers TRACE [OPTION…]: those that it has, in its order; what fkt_print says about it is in .said.
numbers() {
	fkt_print --no-summary --time=cycles --code=sys_lseek "${@:2}" "$1" 2>.said |
		perl -ne '/ sys_lseek +fd=77 offset=((0x)?[0-9a-f]+) / and print $2 ? hex $1 : $1, "\n"' | grep -v '^0$'
}

# in_a_row FILE: each number is the one before and 1.
in_a_row() {
	perl -ne 'chomp; if (defined $n && $_ != $n + 1) { print "$_ follows $n\n"; exit 1 } $n = $_; END { exit !defined $n }' "$1"
}

# all_numbers TRACE…: of all of them, each once.
all_numbers() {
	local trace

	for trace in "$@"; do
		numbers "$trace" --from 0
	done | sort -n >all
}

# snapshot FILE [OPTION…]: take one that has to work.
snapshot() {
	expect 0 fkt_snapshot -o "$@"
	said '^fkt_snapshot: .*: [0-9]+ events, [0-9]+ pages \([0-9.]+ MB\) of [0-9.]+ s, 0 lost$'
}

whole() {
	numbers "$1" >n
	check "$1: $(wc -l <n) calls, none is missing" in_a_row n
	check "$1: no page is damaged" not grep -v 'from where nothing was' .said
	check "$1: nothing is lost" grep -q '^none' <(summary "$1" Lost)
}

expect 1 fkt_snapshot -o s
said '^fkt_snapshot: no recording is running that keeps the newest events \(fkt_record --ring SIZE\)$'
check 'nothing is left behind' not [ -e s ]

# So that the reserve is more than a lane may grow to.
echo 1 >/sys/module/fkt/parameters/grow_factor
echo '--- more memory than is used between them: nothing is missing at all'
start_recorder --ring 16M --args -k system -n -o t
begin_numbers 0.005
sleep 1
for i in 1 2 3; do
	snapshot s$i
	sleep 0.5
done
kill -USR1 "$recorder"
wait_until 20 grep -q '^fkt_record: t.1: [0-9]* events' recorder.err
expect 0 fkt_snapshot
check 'a name of its own' [ -s trace_file.1 ]
sleep 0.5
kill "${background[-1]}"
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
for trace in s1 s2 s3 t.1 trace_file.1 t; do
	whole $trace
done
all_numbers s1 s2 s3 t.1 trace_file.1 t
check "all $(wc -l <all) calls are in one of them" in_a_row all
check 'each in one of them alone' [ "$(sort -u all | wc -l)" = "$(wc -l <all)" ]
check 'the names are there' grep -q ' perl ' <(fkt_print --no-summary s3)
same_by_all s2
echo 8 >/sys/module/fkt/parameters/grow_factor

# Not so much that the recorder gets no CPU before the reserve is full.
echo '--- less: the newest ones of each, on all CPUs, with functions'
start_recorder --ring "$(nproc)M" --args -k system,functions -F 'vfs_*' -n -o t
busy=()
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" sh -c 'while :; do head -c 300 /etc/passwd >/dev/null; sleep 0.01; done' &
	busy+=($!)
done
background+=("${busy[@]}")
begin_numbers 0.001
for i in 1 2; do
	sleep 0.7
	snapshot s$i
	whole s$i
done
check 'threads that have ended have names' \
	not grep -q . <(fkt_print --no-summary --time=cycles s2 | awk '$3 ~ /^[0-9]+$/ && $4 == "?"')
snapshot s --last 50ms
whole s
ms=$(sed -nE 's/.* of ([0-9.]+) s, .*/\1/p' .err)
check "no more than was asked for, and little less: $ms s" perl -e 'exit !($ARGV[0] > 0.02 && $ARGV[0] < 0.2)' "$ms"

the_rest_takes_long

echo '--- where it can'\''t be written, and by two at once'
# Room for what stands before the pages, and for a few of them.
room=$(($(wc -c <s) / 1024 - 4 * $(sed -nE 's/.*, ([0-9]+) pages .*/\1/p' .err) + 200))
mkdir -p small
mount -t tmpfs -o size=${room}k none small
expect 1 fkt_snapshot -o small/s
said 'cannot write the snapshot: No space left on device'
check 'what is not a trace is gone' not [ -e small/s ]
umount small
sleep 0.5
snapshot s
whole s
kill "${busy[@]}"
fkt_snapshot -o s1 2>.1 &
fkt_snapshot -o s2 2>.2
wait $!
check 'each gets one' grep -q ' events, ' .1
check 'and the other one' grep -q ' events, ' .2
expect 1 fkt_snapshot -o /dev/null
said 'regular file'
expect 1 fkt_snapshot -o t
said 'this is where the recording itself will be written when it ends'
expect 2 fkt_snapshot --last soon
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
whole t
kill "${background[-1]}"

echo '--- without more memory: what there is no room for is counted'
start_recorder --ring 256K --gap --args -k system -n -o t
begin_numbers
for i in 1 2; do
	sleep 0.5
	expect 0 fkt_snapshot -o g$i
	numbers g$i >n
	check "its $(wc -l <n) calls are from before the gap" in_a_row n
done
kill "${background[-1]}"
stop_recorder
check 'it goes on' [ "$(numbers t | wc -l)" -gt 100 ]
wait_until 20 idle

echo '--- other recordings'
start_recorder -n -o t
expect 1 fkt_snapshot -o s
said 'no recording is running that keeps the newest'
stop_recorder
expect 2 fkt_record --gap true
said 'about snapshots'
