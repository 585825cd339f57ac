#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest that has booted from a Debian on which FKT's packages are installed, as root.

export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin

# expect WHAT COMMAND…
expect() {
	if "${@:2}" >/tmp/expect.out 2>&1; then
		echo "ok: $1"
	else
		echo "FAILED: $1"
		sed 's/^/    /' /tmp/expect.out
	fi
}

not() {
	! "$@"
}

as() {
	runuser -u "$1" -- "${@:2}"
}

# says STATUS PATTERN COMMAND…
says() {
	local status

	"${@:3}" >/tmp/said 2>&1
	status=$?
	cat /tmp/said
	echo "status $status"
	[ $status = "$1" ] && grep -qE -- "$2" /tmp/said
}

cd /tmp || exit
echo "$(uname -r), $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release), up $(cut -d ' ' -f 1 /proc/uptime) s"
expect 'the module was loaded when it booted' test -d /sys/module/fkt
expect 'it is what DKMS has built' [ "$(cat /sys/module/fkt/srcversion)" = "$(modinfo -F srcversion fkt)" ]
expect 'its symbols are there for other modules' test -s "/var/lib/dkms/fkt/kernel-$(uname -r)-x86_64/Module.symvers"
expect 'the device is for the group' [ "$(stat -c '%a %U:%G' /dev/fkt)" = '660 root:tracing' ]

# A member records and reads.
cd /home/member || exit
expect 'a member records' as member fkt_record -o find.fkt find /usr/share/doc -name copyright
expect 'with all that there is to see' says 0 'sys_openat' as member fkt_print --no-summary find.fkt
expect 'by name' says 0 ' find +[01][0-9a-f]{3}' as member fkt_print --no-summary find.fkt
expect 'the trace is the member'\''s' [ "$(stat -c %U find.fkt)" = member ]
expect 'the command has no capability' says 0 '^CapEff:.0000000000000000' as member fkt_record -o cap.fkt grep ^Cap /proc/self/status
expect 'nor may it get one' says 0 '^CapPrm:.0000000000000000' as member fkt_record -o cap.fkt grep ^Cap /proc/self/status
expect 'a member may filter' as member fkt_record -o filter.fkt --pid 1 true
expect 'and take stacks' as member fkt_record -o stack.fkt --stack switch sleep 0.1
expect 'which have names' says 0 'schedule' as member fkt_print --stack --no-summary stack.fkt
expect 'and switch layers' says 1 'no recording is running' as member fkt_enable system

# What is dangerous, and others.
expect 'layers of functions are root'\''s' says 1 'functions are for root alone .*trust_perfmon' as member fkt_record -o no.fkt -k network true
expect 'addresses are root'\''s' says 1 'root.*trust_perfmon' as member fkt_record -o no.fkt -P 'p vfs_read' true
expect 'and memory' says 1 'root.*trust_perfmon' as member fkt_record -o no.fkt --strings true
expect 'others are told how' says 1 'members of the group tracing' as other fkt_record -o /tmp/no.fkt true
expect 'root records all' fkt_record -o root.fkt -P 'p vfs_read' --strings true
echo Y >/sys/module/fkt/parameters/trust_perfmon
expect 'unless root lets members do it' as member fkt_record -o yes.fkt --strings true
echo N >/sys/module/fkt/parameters/trust_perfmon
expect 'a doctor is pleased with a member' says 0 'you may record' as member fkt doctor
expect 'and not with others' says 1 'PROBLEM  permissions .*members of the group tracing' as other fkt doctor
expect 'the releases of tools and module are told' says 0 '^module: 0' fkt --version

# A new module while the old one records: what an upgrade does when DKMS has built it. It is the same one by another name.
recorder() {
	grep -lx fkt_record /proc/[0-9]*/comm | sed 's|/proc/\([0-9]*\)/comm|\1|'
}

as member fkt_record -n -o long.fkt 2>long.said &
for _ in {1..300}; do as member fkt_enable system 2>/dev/null && break; sleep 0.1; done
expect 'the same module need not be replaced' /usr/libexec/fkt/replace-module
sed -i 's/srcversion=./srcversion=Z/' "$(modinfo -n fkt)"
expect 'a new one is there' [ "$(cat /sys/module/fkt/srcversion)" != "$(modinfo -F srcversion fkt)" ]
expect 'one in use is not replaced' not /usr/libexec/fkt/replace-module
expect 'but waited for' systemd-run --quiet --collect --unit=fkt-replace-module /usr/libexec/fkt/replace-module --wait
sleep 2
expect 'the recording goes on' as member fkt_enable system
kill -TERM "$(recorder)"
wait
expect 'and ends in order' as member fkt_print --summary long.fkt
for _ in {1..100}; do [ "$(cat /sys/module/fkt/srcversion 2>/dev/null)" != "$(modinfo -F srcversion fkt)" ] || break; sleep 0.1; done
expect 'then the new one is loaded' [ "$(cat /sys/module/fkt/srcversion)" = "$(modinfo -F srcversion fkt)" ]
expect 'and records' as member fkt_record -o new.fkt true

# The flight recorder.
expect 'it starts' systemctl start fkt-flight
for _ in {1..300}; do fkt_enable system 2>/dev/null && break; sleep 0.1; done
expect 'and runs' systemctl is-active fkt-flight
expect 'reloading it' systemctl reload fkt-flight
for _ in {1..100}; do journalctl -q -o cat -u fkt-flight | grep -q 'trace\.[0-9]*:' && break; sleep 0.1; done
expect 'takes a snapshot' sh -c 'fkt_print --summary /var/lib/fkt/flight/trace.[0-9]*'
expect 'which is in the journal' sh -c 'journalctl -q -o cat -u fkt-flight | grep -E "fkt_record: .*trace\.[0-9]+: [1-9][0-9]* events"'
expect 'it stops' systemctl stop fkt-flight
expect 'in order' sh -c 'fkt_print --summary /var/lib/fkt/flight/trace && systemctl show -p Result fkt-flight | grep success'
expect 'a set is recorded' systemctl start fkt@sched
for _ in {1..300}; do fkt_enable process 2>/dev/null && break; sleep 0.1; done
expect 'until it is stopped' systemctl stop fkt@sched
expect 'with its events' sh -c 'fkt_print --no-summary /var/lib/fkt/sched/trace | grep switch_to'

# And away.
expect 'it goes' apt-get -q -y purge fkt fkt-dkms fkt-doc libfkt0 libfkt-dev
expect 'with the module' not test -d /sys/module/fkt
expect 'and the group' not getent group tracing
left=$(find / -xdev -name '*fkt*' ! -path '/home/*' ! -path '/tmp/*' ! -path '/proc/*' ! -path '/var/log/*' 2>/dev/null)
expect "and all files: $left" [ -z "$left" ]
echo 'all done'
