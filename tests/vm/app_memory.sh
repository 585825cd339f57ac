# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# A program whose group has used up its memory waits when it asks for more. Others do not wait with it: neither those that
# begin and end to record, nor the recorder.

. "$TOP/tests/vm/lib.sh"

# The kernel has it wait within the call that asks for the second 64 pages: that takes all the lanes.
[ "$(nproc)" -gt 4 ] || skip 'a program has too few lanes here'

longest() {
	sed -n 's/^longest //p' "$1"
}

# How long, at most, others may take to begin to record, in ms, and the recorder to end, in s: less than that one waits.
# On a kernel that is slow by itself, so much longer than they take there without that one.
join_ms=1500
end_s=2
if [ "$FKT_SLOW" != 1 ]; then
	start_recorder -n -k application -o trace
	expect 0 app_events joins 8000
	join_ms=$((join_ms + $(longest .out)))
	begin=$SECONDS
	stop_recorder
	end_s=$((end_s + SECONDS - begin))
	echo "without one that waits: join_ms=$join_ms end_s=$end_s"
fi

group=/run/app_memory
mkdir -p $group
mount -t cgroup2 none $group || die 'no cgroup2'
echo +memory >$group/cgroup.subtree_control
mkdir $group/poor
(echo "$BASHPID" >$group/poor/cgroup.procs; exec head -c 64M /dev/zero >/dev/shm/much)
(echo "$BASHPID" >$group/poor/cgroup.procs; exec app_events joins $((6000 * (FKT_SLOW + 1))) >poor) &
poor=$!
background+=($poor)
start_recorder -n -k application -o trace
echo 1M >$group/poor/memory.high
sleep 1
expect 0 app_events joins 8000
check 'others begin to record meanwhile' between 0 "$(longest .out)" "$join_ms"
begin=$SECONDS
stop_recorder
check 'so does the recorder end' between 0 $((SECONDS - begin)) "$end_s"
wait $poor
check 'that one has waited' between 1800 "$(longest poor)" 60000
rm /dev/shm/much

# Who can't have memory at all is not left out in silence, whatever it writes.
echo max >$group/poor/memory.high
mkfifo go
(echo "$BASHPID" >$group/poor/cgroup.procs; exec app_events marks 50 <go) &
poor=$!
background+=($poor)
exec 3>go
check 'it is in its group' wait_until 20 grep -qx $poor $group/poor/cgroup.procs
start_recorder -n -k application -o trace
sleep 1
# What the kernel has set aside for the group on each CPU, up to 64 pages, may be all that is asked for: it goes back first.
echo $(($(cat $group/poor/memory.current) - 1)) >$group/poor/memory.high
echo max >$group/poor/memory.high
echo $(($(cat $group/poor/memory.current) + 40000)) >$group/poor/memory.max
echo >&3
exec 3>&-
check 'it lives' wait $poor
stop_recorder
check 'its marks are counted' [ "$(strings -n 4 trace | sed -n 's/^application_lost=//p' | tail -1)" = 50 ]
check 'the module goes' wait_until 5 idle
rmdir $group/poor
umount $group
