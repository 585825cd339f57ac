# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# Where it is not known of any function whether it has arguments on the stack, none has an exit: that is said, and why.

. "$TOP/tests/vm/lib.sh"

entries_alone() {
	said "$1"
	check 'functions have entries' [ "$(events t | grep -c ' vfs_read$')" -gt 0 ]
	check 'and no exits' [ "$(events t | grep -c ' vfs_read .*= ')" = 0 ]
	rm t
}

mount -t tmpfs none /sys/kernel/btf
expect 0 fkt_record -o t -F vfs_read cat /etc/hostname
entries_alone 'no type information \(BTF\): functions have no exit, and no arguments by name'
expect 0 fkt_record -o t.none true
check 'who traces no functions need not know' [ "$(wc -l <.err)" = 1 ]
umount /sys/kernel/btf

# Where ftrace does not tell addresses (before 6.5), there are no functions to be traced then.
if [ -e /sys/kernel/tracing/available_filter_functions_addrs ]; then
	hidden=$(sysctl -n kernel.kptr_restrict)
	sysctl -q kernel.kptr_restrict=2
	expect 0 fkt_record -o t -F vfs_read cat /etc/hostname
	entries_alone 'kernel.kptr_restrict\); functions will have no names, and those that are traced no exit'
	sysctl -q kernel.kptr_restrict="$hidden"
fi
