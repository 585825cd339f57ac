# SPDX-License-Identifier: GPL-2.0-only
# limit: 200 s
#
# A live patch and FKT never have the same function, in whichever order they come: the patch has to work, or is refused. And a
# patch of another function gets through, while tasks sleep in traced functions.

. "$TOP/tests/vm/lib.sh"

patch=$TOP/build/tests/vm/livepatch/$(uname -r)/fkt_livepatch.ko
parameters=/sys/module/fkt_livepatch/parameters
sysfs=/sys/kernel/livepatch/fkt_livepatch
function=vfs_fsync_range
[ -e "$patch" ] || skip 'this kernel takes no live patches'

# Nobody but this test calls it: how often the patch has been asked.
patched_calls() {
	local before

	before=$(cat $parameters/calls)
	# oflag=dsync: one call, not an inlined one as fsync()'s on newer kernels.
	dd if=/dev/zero of=f bs=4k count=1 oflag=dsync 2>/dev/null
	echo $(($(cat $parameters/calls) - before))
}

through() {
	[ "$(cat $sysfs/transition)" = 0 ]
}

remove_patch() {
	check 'the patch is there for all tasks' wait_until 40 through
	echo 0 >$sysfs/enabled
	check 'and for none' wait_until 40 not [ -e $sysfs ]
	wait_until 10 rmmod fkt_livepatch 2>/dev/null || fail 'rmmod fkt_livepatch'
}

# First the patch: FKT does without the function, and says so.
insmod "$patch" function=$function || die 'the patch does not load'
check 'the patch works' [ "$(patched_calls)" = 1 ]
run fkt_record -F $function -F vfs_open -o t sh -c "cat $parameters/calls; dd if=/dev/zero of=f bs=4k count=1 oflag=dsync 2>/dev/null; cat $parameters/calls"
if [ "$status" = 0 ]; then
	check 'the patch works while FKT records others' [ "$(echo "$out" | xargs | awk '{ print $2 - $1 }')" = 1 ]
	said "$function|could not be hooked"
	check 'it is not recorded' [ "$(events t | grep -c " $function ")" = 0 ]
	check 'but the others are' [ "$(events t | grep -c ' vfs_open$')" -gt 0 ]
else
	one_sentence
	check 'nothing is left behind' idle
fi
remove_patch

# First FKT: the patch is refused.
start_recorder -n -F $function -F '*pipe_read' -F vfs_read -F '*_sys_read' -F ksys_read -o t
refuse "a live patch of what FKT records" insmod "$patch" function=$function 2>/dev/null
check 'nothing of it is left' [ ! -e $sysfs ]
dd if=/dev/zero of=f bs=4k count=1 oflag=dsync 2>/dev/null

# One of another function, with somebody asleep in a traced one, who is not woken up for it.
mkfifo fifo
exec 9<>fifo
dd if=fifo of=got bs=16 count=1 2>/dev/null &
reader=$!
background+=($reader)
wait_until 20 grep -q '^0 ' /proc/$reader/syscall
begin=$SECONDS
insmod "$patch" function=vfs_fallocate || fail 'a patch of another function does not load'
check 'a patch of another function gets through' wait_until 12 through
echo "after $((SECONDS - begin)) s"
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
check 'FKT has recorded it' [ "$(events t | grep -c " $function$")" -ge 1 ]
remove_patch
echo byte >&9
wait $reader
check 'the reader gets its byte' [ "$(cat got)" = byte ]

# Before 6.7, where FKT has many functions, a patch that comes later is not refused: it takes the calls, which are counted as lost.
# Those of devices, of which there are few here.
# Through a pipe: FKT itself calls the function to synchronize a file.
mkfifo pipe
cat pipe >many &
background+=($!)
start_recorder -n -F $function -F 'acpi_*' -F '[egx]*' -F 'd[er]*' -F 'p[chi]*' -F 'u*' -F 'w*' -p 10 -o pipe
dd if=/dev/zero of=f bs=4k count=1 oflag=dsync 2>/dev/null
if [ "$(printf '%s\n' 6.7 "$(uname -r)" | sort -V | head -1)" = 6.7 ]; then
	refuse 'among many functions, the patch is refused as well' insmod "$patch" function=$function 2>/dev/null
	stop_recorder
	check 'the recording ends well' [ "$status" = 0 ]
	exit
fi
insmod "$patch" function=$function || fail 'among many functions, the patch does not load'
check 'it gets through' wait_until 40 through
check 'it works' [ "$(patched_calls)" = 1 ]
check 'each time' [ "$(patched_calls)" = 1 ]
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
check 'FKT has the call from before the patch, and its return' [ "$(events many | grep -c " $function")" = 2 ]
check 'and counts those that the patch took as lost' [ "$(lost recorder.err)" -ge 2 ]
check 'it works still' [ "$(patched_calls)" = 1 ]
remove_patch
check 'and has gone' dd if=/dev/zero of=f bs=4k count=1 oflag=dsync
