# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# The machine goes to sleep and wakes up while it is recorded: FKT's threads let themselves be frozen, and go on.

. "$TOP/tests/vm/lib.sh"

[ -w /sys/power/pm_test ] || skip 'this kernel has no /sys/power/pm_test'
# Freeze everything as for a suspension, wait a little, and wake up.
echo freezer >/sys/power/pm_test

start_recorder -n -o t
calls 1000 >/dev/null
calls -t "$(nproc)" -s 60 >/dev/null &
storm=$!
background+=($storm)
dmesg -C
check 'everything freezes, in a storm' sh -c 'echo freeze >/sys/power/state'
refuse 'no thread refused to' grep -iq 'refusing\|failed' <(dmesg)
check 'it was frozen' grep -q 'suspend debug: Waiting' <(dmesg)
kill $storm
calls 2000 >/dev/null
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
calls=$(count t 006e)
check "calls from before and after ($calls)" [ "$calls" -gt 3000 ]
