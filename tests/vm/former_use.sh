# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 180 s
#
# The pages of a recording are used again by the next one, which may be that of somebody who could not have made the one before:
# nothing of it is in what that gets.

. "$TOP/tests/vm/lib.sh"

# All pages of the lanes are full of what is written. A ring of 128 KB has lanes of 16 pages as well.
cat >tells <<'END'
	open my $null, ">", "/dev/null" or die;
	syswrite $null, "nobody else is to know this" for 1 .. 5000;
END
fill() {
	expect 0 fkt_record --strings=64 -p 4 -o known sh -c 'for i in 1 2 3 4; do perl tells & done; wait'
	check 'it is in the trace' grep -qa 'nobody else is to know this' known
}

# nothing_in FILE: of what was in the pages.
nothing_in() {
	check "$1: there are events" [ "$(events "$1" | grep -c ' sys_')" -gt 10 ]
	check "$1: nothing is in it of the recording before" not grep -qa 'else is to' "$1"
}

fill
expect 0 fkt_record -p 4 -o file true
nothing_in file
fill
fkt_record -p 4 -o - true 2>/dev/null | cat >stream
nothing_in stream
fill
expect 0 fkt_record --ring 128K -o ring true
nothing_in ring
fill
start_recorder -n --ring 128K -o end
true
expect 0 fkt_snapshot -o snapshot
stop_recorder
nothing_in snapshot
