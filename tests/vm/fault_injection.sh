# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# Allocations of a recording fail, one at a time, on a kernel that was built for it (scripts/debug-kernel). Of many that
# follow each other not all do: they are the pages of a lane.

. "$TOP/tests/vm/lib.sh"

debug=/sys/kernel/debug
[ -d $debug/failslab ] || skip 'this kernel does not inject faults'

# Those that may wait are the ones that FKT makes; each failure told would fill the log.
for kind in failslab fail_page_alloc; do
	echo N >$debug/$kind/ignore-gfp-wait
	echo 0 >$debug/$kind/verbose
done
echo 0 >$debug/fail_page_alloc/min-order
echo N >$debug/fail_page_alloc/ignore-gfp-highmem

# Nor those that the kernel tells of in any case: traces and the state of its memory.
level=$(cut -f1 /proc/sys/kernel/printk)
echo 4 >/proc/sys/kernel/printk

address=$(awk '$3 == "vfs_llseek" { print $1 }' /proc/kallsyms)
expect 0 fail_nth "$address"
echo "$level" >/proc/sys/kernel/printk
check 'the kernel did not complain' is_content
check 'allocations failed' grep -qE '^[1-9][0-9]+ faults' .out
cat .out
expect 0 fkt_record -F vfs_read -o t cat "$TOP/README.md"
check 'the next recording is as any other' [ "$(lost)" = 0 ]
