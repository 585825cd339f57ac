# SPDX-License-Identifier: GPL-2.0-only
#
# The guest runner itself: a test in a guest must be able to fail.

kernel=$1
cpus=$2
vm=$TOP/scripts/vm
failed=0

# expect STATUS PATTERN ARGUMENT…: scripts/vm exits with STATUS, and its output and log have PATTERN.
expect() {
	local wanted=$1 pattern=$2 status

	shift 2
	echo "+ scripts/vm $*"
	"$vm" --kernel "$kernel" --cpus "$cpus" "$@" >out 2>err
	status=$?
	if [ $status = "$wanted" ] && { [ -z "$pattern" ] || cat out err | grep -q -- "$pattern"; }; then
		echo "ok: $status"
	else
		echo "FAILED: status $status, and not $wanted; or no '$pattern' in:"
		cat out err | tail -n 20
		failed=1
	fi
}

mkdir share
expect 7 '^out$' --share share -- sh -c 'echo out; echo err >&2; lsmod | grep -ow ^fkt >/mnt/share/module; exit 7'
[ "$(cat out)" = out ] && [ "$(cat err)" = err ] || { echo 'FAILED: it prints other things than the command did'; failed=1; }
[ "$(cat share/module)" = fkt ] || { echo 'FAILED: the module is not loaded'; failed=1; }
expect 1 '' --no-module -- test -e /dev/fkt
expect 99 'sysrq: Trigger a crash' -- sh -c 'echo c >/proc/sysrq-trigger'
expect 99 'possible circular locking' -- sh -c 'echo "<4>WARNING: possible circular locking dependency detected" >/dev/kmsg; sleep 1'
# More of it than a pipe holds.
# shellcheck disable=SC2016
expect 99 'complained: .* number 1;' -- sh -c 'echo on >/proc/sys/kernel/printk_devkmsg
	for i in $(seq 3000); do echo "<4>WARNING: this machine has found many things to complain of, number $i" >/dev/kmsg; done; sleep 1'
# A test that is content with itself, while the kernel is not.
mkdir -p suite/tests/vm suite/scripts/guest
cp "$TOP/tests/vm/guest" suite/tests/vm
cp "$TOP/scripts/guest/complaints" suite/scripts/guest
cat >suite/tests/vm/good.sh <<'END'
echo "here is nothing wrong" >/dev/kmsg
level=$(cut -f 1 /proc/sys/kernel/printk)
dmesg -n 1
echo "<7>Oops: 0002 [#1] as a test plays it" >/dev/kmsg
dmesg -n "$level"
END
echo 'dmesg -C; echo "<4>WARNING: possible circular locking dependency detected" >/dev/kmsg; dmesg -C' >suite/tests/vm/bad.sh
expect 99 '^end bad FAILED ' --share share -- suite/tests/vm/guest good bad good
[ "$(sed 's/ [0-9]*$//' out)" = "$(printf '%s\n' 'begin good' 'end good ok' 'begin bad' 'end bad FAILED')" ] ||
	{ echo 'FAILED: it is another test, or the others are not left to another guest:'; cat out; failed=1; }
grep -q '^FAILED: the kernel complained: WARNING: possible circular' share/bad.log || { echo 'FAILED: it is not said'; failed=1; }
expect 99 '' --timeout 10 -- sleep 100
expect 2 'see --help' --nonsense
exit $failed
