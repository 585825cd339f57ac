# SPDX-License-Identifier: GPL-2.0-only
#
# kill_guest.sh KERNEL CPUS: the machine dies in the middle of a recording, as in a power cut. The file on its disk is
# readable up to its last whole page, and of the events no more is missing than the buffer and two seconds.

set -uo pipefail

kernel=$1
cpus=$2
ticks=80
late_s=2
# What the buffer may hold back on top: a page is written when it is full, and full ones wait for others for half a second.
buffer_s=0.7

# How long it may take until it has recorded for so long: a kernel that watches over itself boots slowly, and calls slowly.
case $kernel in
debug-*)	limit_s=400 ;;
*)		limit_s=120 ;;
esac

die() {
	echo "FAILED: $*"
	exit 1
}

# In the guest: ten times a second a rename event with a number, which goes to the host as well, with the time of it.
mkdir share
cat >share/guest.sh <<'END'
fkt_record -n -o /mnt/disk/trace 2>/mnt/share/record.err &
until fkt_enable system 2>/dev/null; do sleep 0.1; done
(while :; do "$1" -t "$(nproc)" 500 >/dev/null; sleep 0.02; done) &
i=0
while :; do
	i=$((i + 1))
	read -r now _ </proc/uptime
	printf "tick$i" >/proc/self/comm
	echo "$i $now" >>/mnt/share/ticks
	sleep 0.1
done
END
"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --disk disk.img:1G --share share --pidfile pid --timeout $((limit_s + 80)) -- \
	bash /mnt/share/guest.sh "$TOP/build/tests/vm/calls" &
vm=$!
for ((i = 0; i < 5 * limit_s; i++)); do
	[ ! -e share/ticks ] || [ "$(wc -l <share/ticks)" -lt $ticks ] || break
	kill -0 $vm 2>/dev/null || die 'the guest ended'
	sleep 0.2
done
[ "$(wc -l <share/ticks)" -ge $ticks ] || die 'the guest makes no progress'
kill -9 "$(cat pid)"
wait $vm 2>vm.err
[ -s share/record.err ] && die "the recorder says: $(cat share/record.err)"
read -r last last_s < <(grep -E '^[0-9]+ [0-9.]+$' share/ticks | tail -1)
echo "killed at tick $last, $last_s s after boot"

# The next boot: the file system repairs itself, the trace is read on the host.
"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --disk disk.img --share share -- cp /mnt/disk/trace /mnt/share/trace ||
	die 'the next boot'
ls -l share/trace
"$TOP/build/bin/fkt_print" --no-summary share/trace >listing 2>said
status=$?
cat said
[ $status = 1 ] || die "exit status $status of fkt_print"
grep -q 'the end sections are missing: the recording was cut off; read up to its last whole page' said ||
	die 'fkt_print does not say that it was cut off'
! grep -E '^\*\*\*' listing || die 'something is missing before the end'

# All ticks from the first on, up to one that is not long ago.
perl -e '
	my ($ticks, $listing, $last_s, $late) = @ARGV;
	my (%at, $expected);

	open my $in, "<", $ticks;
	while (<$in>) { $at{$1} = $2 if /^(\d+) ([\d.]+)$/ }
	open $in, "<", $listing;
	while (<$in>) {
		$events++;
		next unless / 1107  rename .* tick(\d+)$/;
		$expected //= $1;
		die "FAILED: tick $1 after tick ", $expected - 1, "\n" if $1 != $expected++;
	}
	defined $expected or die "FAILED: no ticks\n";
	my $newest = $expected - 1;
	my $age = $last_s - ($at{$newest} // $last_s);
	printf "%d events; the newest tick is %d, of %.2f s before the end\n", $events, $newest, $age;
	die "FAILED: ticks before the first one are missing\n" unless $at{$expected - 1};
	exit !($age <= $late);' share/ticks listing "$last_s" "$(perl -e 'print $ARGV[0] + $ARGV[1]' $late_s $buffer_s)" ||
	die "more than $late_s s and the buffer are missing"
[ "$(grep -c 'sys_getppid' listing)" -gt 1000 ] || die 'no calls'
