# SPDX-License-Identifier: GPL-2.0-only
#
# ftrace_kill.sh KERNEL CPUS: ftrace finds an error of its own in the middle of a recording and stops for good. It goes on
# calling what it was told to call, and lets go of nothing: the recording ends, and the functions go on, through the gate,
# which stays. fkt.ko stays as well where the kernel cannot take its kprobes out (6.1), else it may go (6.12).
#
# Another tracer has a function of the recording's: so ftrace goes through its list of hooks with each call, for ever, and FKT's
# have to be there. What is freed is overwritten, so that it is seen.

set -uo pipefail

kernel=$1
cpus=$2
release=$("$TOP/scripts/kernels" --release "$kernel")

mkdir share
cat >share/guest.sh <<'END'
cd /mnt/disk
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing
echo vfs_read >$tracing/set_ftrace_filter
echo function >$tracing/current_tracer
fkt_record -n -F 'vfs_*' -F '*_sys_read' -P filp_close -p 12 -o t 2>record.err &
recorder=$!
until fkt_enable system 2>/dev/null; do sleep 0.1; done
grep -E '^vfs_read \(' $tracing/enabled_functions
insmod "$1"
cat /etc/passwd >/dev/null
kill -INT $recorder
wait $recorder
echo "recorder $?"
# There are no others than FKT's; of one that stays the address is forgotten.
grep -q . /sys/kernel/debug/kprobes/list && echo 'kprobe stays'
rmmod fkt 2>/dev/null && echo unloaded
for i in 1 2 3 4 5; do
	cat /etc/passwd >/dev/null && sh -c true
done
echo "events $(fkt_print --no-summary t | grep -c vfs_read)"
echo "$(fkt_record -k system -o t2 true 2>&1 | grep -o ', 0 lost' | head -1)"
echo survived
END
"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --share share --timeout 200 \
	--append slub_debug=P -- \
	bash /mnt/share/guest.sh "$TOP/build/tests/vm/kill_ftrace/$release/kill_ftrace.ko" >out 2>err
cat out
# The kernel warns of what it could not do. Anything else is FKT's fault.
"$TOP/scripts/guest/complaints" <err |
	grep -avE 'cut here|WARNING:.*(disarm_kprobe|unregister_kprobe|kprobe_ftrace)' >other
if [ -s other ]; then
	cat err
	echo 'FAILED: the kernel complains of more than that'
	exit 1
fi
grep -qx survived out || { cat err; echo 'FAILED: the guest did not survive'; exit 1; }
grep -qx 'recorder 0' out || { echo 'FAILED: the recording did not end well'; exit 1; }
if grep -qx 'kprobe stays' out && grep -qx unloaded out; then
	echo 'FAILED: the module was unloaded, though the kernel still has its kprobe'
	exit 1
fi
grep -qE '^vfs_read \([2-9]\)' out || { echo 'FAILED: nobody else has vfs_read()'; exit 1; }
# On 6.1 it does have it: else nothing was tried.
[ "$kernel" != 6.1 ] || grep -qx 'kprobe stays' out || { echo 'FAILED: the kprobe is gone'; exit 1; }
echo ok
