# SPDX-License-Identifier: GPL-2.0-only
#
# recover.sh KERNEL CPUS: the machine panics in the middle of a recording, and fkt_recover finds in an image of its memory
# what was not written: up to the last call before the panic, and without a gap. Of a recording to disk, and of a ring.

set -uo pipefail

kernel=$1
cpus=$2
# More than the buffer holds: some seconds. What was written in the last ones the disk may not have, for it was not told how
# long the file is; that is still in the buffer.
calls=300000
pow=11
bin=$TOP/build/bin
# A kernel that watches over itself takes its time, and its heart does.
case $kernel in
debug-*)	slow=6 ;;
*)		slow=1 ;;
esac

die() {
	echo "FAILED: $*"
	exit 1
}

# qmp COMMAND [ARGUMENTS]: has QEMU do something, and waits until it is done.
qmp() {
	perl -MIO::Socket::UNIX -MJSON::PP -e '
		my $to = IO::Socket::UNIX->new(Peer => "monitor") or die "monitor: $!\n";
		my @todo = ({ execute => "qmp_capabilities" },
			    { execute => $ARGV[0], arguments => decode_json($ARGV[1] // "{}") });
		while (<$to>) {
			my $said = decode_json($_);
			die "QEMU says: $_" if $said->{error};
			next unless $said->{QMP} or $said->{return};
			my $next = shift @todo or exit 0;
			print $to encode_json($next), "\n";
			$to->flush;
		}
		exit($ARGV[0] ne "quit");' "$@"
}

# unflatten FROM TO: what makedumpfile -R does: pieces go where they say.
unflatten() {
	perl -e '
		open my $from, "<", $ARGV[0] or die;
		open my $to, ">", $ARGV[1] or die;
		seek $from, 4096, 0;
		while (read($from, my $piece, 16) == 16) {
			my ($offset, $bytes) = unpack "q>q>", $piece;
			last if $offset < 0;
			read($from, my $data, $bytes) == $bytes or die;
			seek $to, $offset, 0;
			print $to $data;
		}' "$@"
}

# In the guest: record, and panic after so many numbered calls.
mkdir share
cat >share/guest.sh <<'END2'
numbered=$1 calls=$2
shift 2
fkt_record -n --args "$@" -o /mnt/disk/trace 2>/mnt/share/record.err &
until fkt_enable system 2>/dev/null; do sleep 0.1; done
[ "$1" != --ring ] || cp /mnt/disk/trace /mnt/share/head
sync
echo 1 >/proc/sys/kernel/sysrq
while :; do
	read -r now _ </proc/uptime
	echo "$now" >/mnt/share/alive
	sleep 0.2
done &
echo >/mnt/share/begun
exec "$numbered" "$calls" /proc/sysrq-trigger
END2

# panic OPTION…: records with these; memory is in dump.elf, dump.raw and dump.kdump then.
panic() {
	local vm now before still i

	rm -f disk.img share/alive share/begun dump.* flat monitor
	"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --memory 512M --disk disk.img:1G --share share --timeout $((200 * slow)) \
		--monitor monitor --append panic=0 -- bash /mnt/share/guest.sh "$TOP/build/tests/vm/numbered" "$calls" "$@" 2>vm.err &
	vm=$!
	for ((i = 0; i < 600 * slow; i++)); do
		[ ! -e share/begun ] || break
		kill -0 $vm 2>/dev/null || { cat vm.err; die 'the guest ended'; }
		sleep 0.2
	done
	[ -e share/begun ] || die 'the guest makes no progress'
	# It has panicked when its heart stands still.
	for ((still = 0; still < 15 * slow; still++)); do
		now=$(cat share/alive)
		[ "$now" = "${before-}" ] || still=0
		before=$now
		kill -0 $vm 2>/dev/null || { cat vm.err; die 'the guest ended'; }
		sleep 0.4
	done
	qmp dump-guest-memory '{ "paging": false, "protocol": "file:dump.elf" }' || die 'no image'
	qmp pmemsave '{ "val": 0, "size": 536870912, "filename": "dump.raw" }' || die 'no image'
	qmp dump-guest-memory '{ "paging": false, "protocol": "file:flat", "format": "kdump-zlib" }' || die 'no image'
	qmp quit
	unflatten flat dump.kdump
	wait $vm
	grep -q 'Kernel panic' vm.err || { cat vm.err; die 'it did not panic'; }
	[ ! -s share/record.err ] || die "the recorder says: $(cat share/record.err)"
}

# check TRACE FIRST: the numbered calls are there without a gap up to the last one; from the first one on if FIRST.
check() {
	"$bin/fkt_print" --no-summary "$1" >listing 2>said
	cat said
	! grep -E '^\*\*\*' listing || [ -z "$2" ] || die 'something is missing'
	perl -e '
		my ($listing, $calls, $from_first) = @ARGV;
		my (%last, %first, $write, $after);

		open my $in, "<", $listing;
		while (<$in>) {
			$after++ if $write;
			$write = $. if /sys_write .*count=1\b/ and exists $last{0} and $last{0} == $calls;
			next unless / sys_close +fd=0x([0-9a-f]{8})$/;
			my ($cpu, $number) = ((hex($1) - 0x40000000) >> 24, hex($1) & 0xffffff);
			$first{$cpu} //= $number;
			die "FAILED: CPU $cpu: call $number after $last{$cpu}\n"
				if exists $last{$cpu} and $number != $last{$cpu} + 1;
			$last{$cpu} = $number;
		}
		for (sort keys %last) {
			print "CPU $_: calls $first{$_} to $last{$_}\n";
			die "FAILED: the first calls are missing\n" if $from_first and $first{$_} != 1;
		}
		die "FAILED: the last call before the panic is not there\n" unless ($last{0} // 0) == $calls;
		die "FAILED: the call that panics is not there\n" unless $write;
		print "the call that panicked is there, and ", $after // 0, " events after it\n";' listing "$calls" "$2" ||
		exit 1
}

echo '--- to disk'
panic -p $pow
"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --disk disk.img --share share -- cp /mnt/disk/trace /mnt/share/trace ||
	die 'the next boot'
"$bin/fkt_print" --no-summary share/trace 2>/dev/null | tail -1
for image in dump.elf dump.raw dump.kdump; do
	"$bin/fkt_recover" "$image" --head share/trace -o recovered || die "$image"
	check recovered yes
done
"$bin/fkt_recover" dump.elf --list

[ -n "${FKT_WHOLE-yes}" ] || { echo 'in part: what takes long was left out'; exit 0; }

echo '--- a ring'
panic --ring 4M
for image in dump.elf dump.raw dump.kdump; do
	"$bin/fkt_recover" "$image" --head share/head -o recovered || die "$image"
	check recovered ''
done
"$bin/fkt_recover" dump.elf -o recovered || die 'without a head'
"$bin/fkt_print" recovered >listing || die 'without a head'
