# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# No probe records with preemption on, whoever calls it: its task might go on with another CPU's lane. This build of FKT
# has the kernel complain.

. "$TOP/tests/vm/lib.sh"

# Tasks that come, go and sleep; faults, files, exceptions.
load() {
	calls 1000
	traps
	find /usr/include/linux -name '*.h' -exec cat {} + | head -1000 | wc -l
	sh -c 'for i in 1 2 3; do cat /etc/hostname | wc -c; done; sleep 0.1'
} >/dev/null 2>&1

# The build that checks is there meanwhile.
begin() {
	rmmod fkt
	insmod "$TOP/build/tests/vm/checked/$(uname -r)/fkt.ko" || die 'no fkt.ko that checks'
	dmesg -C
}

end() {
	expect 0 fkt_record -k system -o t calls 1000
	check "all calls ($(count t 006e))" [ "$(count t 006e)" = 1000 ]
	check 'nor in the end' not grep 'WARNING:' <(dmesg)
	rmmod fkt
	insmod /run/fkt-vm/fkt.ko
}

# preemption OPTIONS…: what the probes say that these turn on.
preemption() {
	local options

	for options in "$@"; do
		set -f
		# shellcheck disable=SC2086
		start_recorder -n -o t $options
		set +f
		load
		stop_recorder
		check "something is recorded ($options)" [ "$(recorded recorder.err)" -gt 100 ]
		check 'always with preemption off' not grep 'WARNING:' <(dmesg)
	done
}

begin
preemption '-k 0' '-k system,process -e task:* -P vfs_read --stack=* --user-stack=*' \
	   '-e sched:* -e irq:* -e signal:* -e raw_syscalls:* -e task:*' '-F vfs_* --args' \
	   '-P vfs_read -P r:vfs_read -P do_sys_openat2 -P r:do_sys_openat2' '-U libc.so.6:malloc -U libc.so.6:str*'
end

the_rest_takes_long

begin
preemption '-k system' '-k system,process,fkt --args' '-k block,files,socket,network,transport' '-k system --strings' \
	   '-k system -F vfs_* --longer-than=1us' '-k system --profile'
end
