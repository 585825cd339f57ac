# SPDX-License-Identifier: GPL-2.0-only
#
# gap.sh KERNEL CPUS: the machine stands still for half a second, and its clock does not: as it does when a hypervisor takes the CPUs, or
# the firmware. fkt_print --noise shows a thread that computes meanwhile a gap that long.
#
# QEMU's emulation tells the guest nothing of it, so that nothing is stolen. Steals that are told can't be made here: test_print has a
# trace that has some.

set -uo pipefail

kernel=$1
cpus=$2
still_ms=500
bin=$TOP/build/bin

die() {
	echo "FAILED: $*"
	cat vm.err
	exit 1
}

mkdir share
cat >share/guest.sh <<'END'
fkt_record -o /mnt/disk/trace perl -e '
	open(my $begun, ">", "/mnt/share/begun") or die;
	close $begun;
	# The vDSO has the time: it makes no system call.
	my $end = time + 20;
	1 while time < $end'
cp /mnt/disk/trace /mnt/share
END
"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --timeout 200 --pidfile pid --share share -- bash /mnt/share/guest.sh 2>vm.err &
vm=$!
until [ -e share/begun ]; do
	kill -0 $vm 2>/dev/null || die 'the guest ended'
	sleep 0.2
done
sleep 3
kill -STOP "$(cat pid)"
sleep 0.$still_ms
kill -CONT "$(cat pid)"
wait $vm || die 'the guest fails'

"$bin/fkt_print" --noise -p +perl share/trace
"$bin/fkt_print" --noise --format csv -p +perl share/trace >noise
perl -e '
	my ($still_ms) = @ARGV;
	my ($gap, $steals, @key) = (0, 0);

	while (<STDIN>) {
		chomp;
		last if !/,/ && @key;
		@key = split /,/ and next if /^cpu,/;
		my %row;
		@row{@key} = split /,/;
		$gap = $row{gap_max_ns} if ($row{gap_max_ns} || 0) > $gap;
		$steals += $row{steals};
	}
	# The tick was due some milliseconds after it began.
	die "FAILED: the longest gap is of $gap ns\n" if $gap < ($still_ms - 20) * 1e6;
	die "FAILED: emulation has stolen time\n" if $steals;
	print "the longest gap is of $gap ns, and nothing was stolen\n";' $still_ms <noise
