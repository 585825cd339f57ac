# SPDX-License-Identifier: GPL-2.0-only
#
# answers.sh KERNEL CPUS: two workloads, recorded in a guest; what each view says of them is made once more from the events.

set -uo pipefail

export FKT_PRINT=$TOP/build/bin/fkt_print
# shellcheck disable=SC2016
calls='pipe(A, B);
if (!fork) { for (1 .. 200) { sysread A, $x, 1 } exit }
for (1 .. 200) { syswrite B, "x"; select undef, undef, undef, 0.001 if $_ % 10 == 0 }
wait'
files='for i in 1 2; do head -c 200000 /dev/urandom | gzip >x; sync x; done & dd if=/dev/zero of=z bs=64k count=5 conv=fsync; wait'

mkdir -p traces
"$TOP/scripts/vm" --kernel "$1" --cpus "$2" --share "$PWD/traces" --timeout 120 -- bash -c "
	cd /mnt/disk &&
	fkt_record -o /mnt/share/calls perl -e '$calls' &&
	fkt_record -k system,functions -F vfs_read -F vfs_write -F ksys_read -F vfs_fsync_range -o /mnt/share/files sh -c '$files'" ||
	exit
failed=0
# Of the pairs of filters, all would take very long.
every=4
[ -n "${FKT_WHOLE-yes}" ] || every=16
for trace in calls files; do
	echo "$trace:"
	perl "$TOP/tests/unit/recompute.pl" "traces/$trace" $every || { echo "FAILED: $trace: recompute.pl ended with status $?"; failed=1; }
done
exit $failed
