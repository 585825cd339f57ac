# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 600 s
#
# A flight recorder for a long time, with a mixed load: ten snapshots a minute, each complete from its first stamp on, by numbers
# that the load counts; and all the time the same memory. For SOAK_S seconds (default: 24). By hand, for an hour:
#
#	scripts/vm --kernel 6.12 --steady --timeout 7200 --share DIR -- env SOAK_S=3600 FKT_LIMIT_S=7000 tests/vm/guest ring_soak

. "$TOP/tests/vm/lib.sh"

seconds=${SOAK_S-24}
period_s=6
ring_mb=64

# On each CPU: makes system calls that say their number, of a file whose number nobody else has, and keeps the last one in a
# file. Pauses leave the others their time.
cat >numbered <<'END'
	use POSIX;
	my ($fd) = @ARGV;
	POSIX::dup2(POSIX::open("/dev/zero", O_RDONLY), $fd) or die;
	open my $file, "<&=$fd" or die;
	open my $count, ">", "count.$fd" or die;
	for (my $i = 1;; $i++) {
		sysseek $file, $i, 0;
		next if $i % 50;
		syswrite $count, pack("Q", $i);
		sysseek $count, 0, 0;
		select undef, undef, undef, 0.05;
	}
END

count() {
	perl -e 'open my $f, "<", $ARGV[0] or die; read $f, my $n, 8; print unpack("Q", $n) // 0, "\n"' "count.$1"
}

# What a snapshot has of a counter: the numbers are in a row, and reach at least to what had been counted when it was asked for.
cat >in_a_row.pl <<'END'
	my ($from, %n) = shift;
	while (<STDIN>) {
		next unless / sys_lseek +fd=(7\d) offset=((?:0x)?[0-9a-f]+) /;
		my ($fd, $n) = ($1, $2);
		$n = hex $n if $n =~ /^0x/;
		next unless $n;
		$first{$fd} //= $n;
		if (defined $n{$fd} && $n != $n{$fd} + 1) { print "$fd: $n follows $n{$fd}\n"; exit 1 }
		$n{$fd} = $n;
	}
	for (split / /, $from) {
		my ($fd, $least) = split /=/;
		print "$fd: ", $first{$fd} // "nothing", " to ", $n{$fd} // "nothing", ", $least had been counted\n";
		exit 1 unless defined $n{$fd} && $n{$fd} >= $least && $n{$fd} > $first{$fd};
	}
END

# Processes, memory, the network over loopback and a disk, in bursts: a slow machine has time for the rest.
mixed() {
	while :; do
		dd if=/dev/zero of=disk.load bs=64k count=20 conv=fsync
		cat disk.load >/dev/null
		rm disk.load
		stress-ng --fork 1 --vm 1 --vm-bytes 8M --pipe 1 --sock 1 --timer 1 --timer-freq 100 --quiet --timeout 1
		sleep 4
	done
}

memory_kb() {
	echo $(($(ring_pages) * 4))
}

start_recorder --ring ${ring_mb}M --args -k system -n -o t
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" perl numbered $((70 + cpu)) &
	background+=($!)
done
mixed 2>/dev/null &
background+=($!)
for cpu in $(seq 0 $(($(nproc) - 1))); do
	wait_until 30 [ -s "count.$((70 + cpu))" ]
done

recorder_kb() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$recorder/status"
}

snapshots=0
recorder_kbs=()
ring_kb_max=0
ring_kb_min=$(memory_kb)
begin=$SECONDS
while [ $((SECONDS - begin)) -lt "$seconds" ] || [ $snapshots -lt 5 ]; do
	next=$((SECONDS + period_s))
	snapshots=$((snapshots + 1))
	counted=
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		counted="$counted $((70 + cpu))=$(count $((70 + cpu)))"
	done
	expect 0 fkt_snapshot -o s
	check 'nothing is lost' grep -q ', 0 lost$' .err
	fkt_print --no-summary --time=cycles --code=sys_lseek s >listed 2>said
	check 'no page is damaged' not grep -v 'from where nothing was' said
	check "snapshot $snapshots: no call is missing" perl in_a_row.pl "${counted# }" <listed
	ring_kb=$(memory_kb)
	[ "$ring_kb" -le $ring_kb_max ] || ring_kb_max=$ring_kb
	[ "$ring_kb" -ge "$ring_kb_min" ] || ring_kb_min=$ring_kb
	# What the recorder itself takes: the same, once malloc() has seen two snapshots come and go.
	recorder_kbs+=("$(recorder_kb)")
	rm -f s
	[ $SECONDS -ge $next ] || sleep $((next - SECONDS))
done
took=$((SECONDS - begin))
echo "$snapshots snapshots in $took s; the ring's pages: $ring_kb_min to $ring_kb_max KB; the recorder: ${recorder_kbs[*]} KB"
check 'the ring has at most twice its size, as it says' between $((ring_mb * 1024 / 2)) "$ring_kb_max" $((2 * ring_mb * 1024 + 1024))
check 'and always about the same' [ $((ring_kb_max - ring_kb_min)) -le $((ring_mb * 1024 / 16)) ]
check 'so has the recorder' [ "${recorder_kbs[-1]}" -le $((recorder_kbs[2] + 1024)) ]
check 'all of the load still runs' kill -0 "${background[@]}"
kill "${background[@]:1}" 2>/dev/null
stop_recorder
check 'it ends well' [ "$status" = 0 ]
check 'nothing was lost' [ "$(lost recorder.err)" = 0 ]
