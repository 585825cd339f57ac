# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the module does of itself about functions that it is told to hook, whatever the recorder looks at before.

. "$TOP/tests/vm/lib.sh"

read_something='cat /etc/hostname >/dev/null'

# hooked TEXT: what the last one answered.
hooked() {
	check "$1" [ "$out" = "$1" ]
}

expect 0 hook t "$read_something" 0 vfs_read vfs_write
hooked '2 hooked, 0 refused'

# One that a BPF program holds is left out; the others are hooked all the same.
if hold vfs_read true 2>/dev/null; then
	expect 0 hold vfs_read hook t "$read_something" 0 vfs_open vfs_read vfs_write vfs_statx vfs_fsync_range
	hooked '4 hooked, 1 refused'
	expect 0 hold vfs_read hook t "$read_something" 0 vfs_read
	hooked '0 hooked, 1 refused'
fi
expect 0 hook t "$read_something" 0 vfs_read vfs_read
hooked '1 hooked, 1 refused'

# Functions of modules go with them: they have a group, and the kernel's own have none.
event=$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko
args=$TOP/build/tests/vm/fkt_args/$(uname -r)/fkt_args.ko
insmod "$event" && insmod "$args" || die 'the modules do not load'
expect 1 hook t true 0 fkt_event_call
hooked 'add: EINVAL'
expect 1 hook t true 1 vfs_read
hooked 'add: EINVAL'
# Two modules that a careless recorder has put into one group, and the second one goes.
expect 0 hook t 'rmmod fkt_args; echo 7 >/sys/module/fkt_event/parameters/fire' 1 fkt_event_call args_3
hooked '2 hooked, 0 refused'
insmod "$args" || fail 'fkt_args does not come back'
expect 0 hook t 'cat /sys/module/fkt_args/parameters/run >/dev/null' 1 args_3
hooked '1 hooked, 0 refused'
rmmod fkt_args fkt_event

# While ftrace is turned off, it takes hooks and calls nobody; and it can't be turned off while there are hooks.
echo 0 >/proc/sys/kernel/ftrace_enabled
expect 1 hook t true 0 vfs_read vfs_write
hooked 'start: EOPNOTSUPP'
echo 1 >/proc/sys/kernel/ftrace_enabled
expect 0 hook t 'echo 0 2>/dev/null >/proc/sys/kernel/ftrace_enabled' 0 vfs_read
check 'it is still on' [ "$(cat /proc/sys/kernel/ftrace_enabled)" = 1 ]
hooked '1 hooked, 0 refused'
