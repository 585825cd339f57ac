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

# Hidden symbols are looked for once, and not for each function: that would take the memory of the whole machine.
bounded() {
	expect "$1" bash -c 'ulimit -v 400000; exec "$@" >list' bounded "${@:2}"
}

hidden=$(sysctl -n kernel.kptr_restrict)
sysctl -q kernel.kptr_restrict=2
expect 0 fkt_record -o t -k files true
said '^layer files: the kernel hides where its functions are$'
if [ -e /sys/kernel/tracing/available_filter_functions_addrs ]; then
	expect 0 fkt_record -o t -F vfs_read cat /etc/hostname
	entries_alone 'kernel.kptr_restrict\); functions will have no names, and those that are traced no exit'
	bounded 0 fkt_record -v --list-functions '*'
	check 'it lists them' [ "$(wc -l <list)" -gt 20000 ]
else
	bounded 1 fkt_record -o t -F vfs_read true
	said 'the kernel hides its addresses'
	bounded 1 fkt_record --list-functions vfs_read
	said 'the kernel hides its addresses'
fi
sysctl -q kernel.kptr_restrict="$hidden"
