# SPDX-License-Identifier: GPL-2.0-only
# limit: 600 s
#
# Every function of the kernel at once, while processes, memory, the network over loopback and a disk are busy: nothing in the
# kernel's log, the system answers, and afterwards the module can be removed. For SOAK_S seconds (default: 8). By hand:
#
#	scripts/vm --kernel 6.1 --timeout 900 --share DIR -- env SOAK_S=60 tests/vm/guest soak

. "$TOP/tests/vm/lib.sh"

export seconds=${SOAK_S-8}

# All but what a slow guest makes the kernel say, and the reports of a kernel that watches over itself, which are judged behind
# each test.
warnings() {
	dmesg --level=emerg,alert,crit,err,warn | sed -E '/\] ={60,}$/,/\] ={60,}$/d; /hrtimer: interrupt took/d'
}

# The loads begin with the recording and outlive it: each is a session, to be killed as a whole. They leave the recorder
# its time: unhooking all functions takes long enough on an emulated CPU.
cat >load <<'END'
disk() {
	while :; do
		dd if=/dev/zero of=disk.load bs=64k count=50 conv=fsync
		cat disk.load >/dev/null
		rm disk.load
	done
}
export -f disk
for load in 'stress-ng --fork 1 --vm 1 --vm-bytes 16M --pipe 1 --futex 1 --timer 1 --timer-freq 1000 --quiet' \
	'stress-ng --sock 1 --udp 1 --quiet' disk; do
	setsid nice bash -c "$load" >/dev/null 2>&1 &
	echo $! >>loads
done
sleep "$seconds"
END

warnings >before
begin=$SECONDS
expect 0 fkt_record -F '*' -p 12 -s 1600M -o t bash load
echo "$((SECONDS - begin)) s"
check 'many events' [ "$(recorded)" -gt $((10000 * seconds)) ]
check 'nothing was refused' not grep -q 'could not be hooked' .err
mapfile -t loads <loads
background+=("${loads[@]/#/-}")
check 'the loads still run' kill -0 "${loads[@]}"
begin=$SECONDS
check 'the system answers' [ "$(echo answer | timeout 60 sed s/answer/yes/)" = yes ]
check 'nothing keeps the module, with all loads running' wait_until 120 idle
check 'and it can be removed' rmmod fkt
echo "after $((SECONDS - begin)) s"
kill -9 -- "${loads[@]/#/-}"
warnings >after
check 'nothing in the log' diff before after
insmod /run/fkt-vm/fkt.ko
check 'the trace is readable' [ "$(fkt_print -q t >.out 2>&1; echo $?)" = 0 ]
