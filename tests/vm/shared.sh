# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 500 s
#
# Functions that a BPF program has as well, before a recording of all functions began, or since; and more functions than the
# kernel has room for in its table of direct trampolines: nobody is harmed, and no memory stays behind.

. "$TOP/tests/vm/lib.sh"

# bpf_begins FUNCTION: what could be attached is in $attached.
bpf_begins() {
	rm -f to_fexit from_fexit
	mkfifo to_fexit
	fexit "$1" <to_fexit >from_fexit 2>fexit.err &
	fexit=$!
	background+=("$fexit")
	exec 7>to_fexit
	wait_until 30 grep -q attached from_fexit
	attached=$(sed -n 's/^attached //p' from_fexit)
}

bpf_ends() {
	exec 7>&-
	wait $fexit
}

read_all() {
	cat /proc/version /proc/self/status /proc/meminfo >/dev/null
}

start_recorder -n -F '*' -p 10 -s 500M -o t
bpf_begins vfs_read
echo "a BPF program that comes later: $attached of 2 attached"
check 'while a BPF program has a function as well: the function works' read_all
stop_recorder
check 'a BPF program came while all functions were recorded' [ "$status" = 0 ]
bpf_ends
check 'when it has gone: the function works' read_all

bpf_begins vfs_read
check 'a BPF program has a function' [ "$attached" = 2 ]
start_recorder -n -F '*' -p 10 -s 500M -o t
check 'that it had before the recording: the function works' read_all
stop_recorder
check 'all others are recorded' [ "$status" = 0 ]
check 'and it is said that one is not' grep -q '^fkt_record: 1 function left out: held by a BPF program' recorder.err
bpf_ends

the_rest_takes_long

# Where both can have it, the kernel asks the BPF program alone. How the call finds the table of the recording's functions depends
# on which there are.
for functions in '[a-c]*' '[d-f]*' '[r-s]*'; do
	start_recorder -n -F "$functions" -F vfs_read -p 10 -s 500M -o t
	bpf_begins vfs_read
	dd if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null
	stop_recorder
	bpf_ends
	lost=$(sed -nE 's/.*, ([0-9]+) lost.*/\1/p' recorder.err)
	[ "$attached" = 2 ] || { echo "$functions: $attached of 2 attached"; continue; }
	check "of $functions, what goes to the BPF program is counted" [ "${lost:-0}" -ge 2000 ]
done

# shellcheck disable=SC2046
set -- $(many 4 3500)
echo "$1 functions hooked, $2 kB of memory gone"
check 'many functions in many groups are hooked' [ "$1" -gt 9000 ]
check 'and leave no memory behind' [ "$2" -lt 50000 ]
