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

# recording LAYER: wait until there is a recording, by switching a layer of it.
recording() {
	for _ in {1..300}; do
		! fkt_enable "$1" 2>/dev/null || return
		sleep 0.1
	done
}

cd /tmp || exit
echo "$(uname -r), $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release), up $(cut -d ' ' -f 1 /proc/uptime) s"

# A kernel that does not take what DKMS has built: nobody knows the key.
refused() {
	expect 'the module is not loaded' not test -d /sys/module/fkt
	expect 'modprobe says why' says 1 'Key was rejected by service' modprobe fkt
	for user in member other root; do
		expect "$user is told" says 1 'no such device.*signed modules alone, see fkt doctor' as $user fkt_record -o no.fkt true
		expect "the doctor tells $user" says 1 'PROBLEM  signature +is asked for' as $user fkt doctor
	done
	expect 'and how to have the key taken' says 1 'mokutil --import /var/lib/dkms/mok\.pub' fkt doctor
	mv /var/lib/dkms/mok.pub /tmp
	expect 'or to get one' says 1 'DKMS has no key to sign the module by' fkt doctor
	mv /tmp/mok.pub /var/lib/dkms
}

if grep -q module.sig_enforce=1 /proc/cmdline; then
	refused
	# It is the same where the kernel is locked down, and that is told, too.
	echo confidentiality >/sys/kernel/security/lockdown
	expect 'the doctor tells of the lockdown' says 1 'PROBLEM  lockdown .*for confidentiality' as member fkt doctor
	echo 'all done'
	exit
fi

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

expect 'Python reads it' says 0 '^find ' as member python3 -c 'import fkt; print(fkt.open("find.fkt").info("command"))'

# Debian's own way to test a package, in this very system, which is a machine of its own, though the null server can't know that.
expect 'autopkgtest' says 0 'record +PASS' autopkgtest --no-built-binaries --ignore-restrictions=isolation-machine \
	/root/fkt/fkt_*.dsc -- null

# What is dangerous, and others.
expect 'layers of functions are root'\''s' says 1 'functions are for root alone .*trust_perfmon' as member fkt_record -o no.fkt -k network true
expect 'addresses are root'\''s' says 1 'root.*trust_perfmon' as member fkt_record -o no.fkt -P 'p vfs_read' true
expect 'and memory' says 1 'root.*trust_perfmon' as member fkt_record -o no.fkt --strings true
expect 'others are told how' says 1 'members of the group tracing' as other fkt_record -o /tmp/no.fkt true
expect 'root records all' fkt_record -o root.fkt -P 'p vfs_read' --strings true
echo Y >/sys/module/fkt/parameters/trust_perfmon
expect 'unless root lets members do it' as member fkt_record -o yes.fkt --strings true
echo N >/sys/module/fkt/parameters/trust_perfmon
printf '[module]\ntrust_perfmon = 1\n' >>/etc/fkt/fkt.conf
expect 'or says so in the file' sh -c '/usr/libexec/fkt/apply-settings && grep Y /sys/module/fkt/parameters/trust_perfmon'
sed -i '/^trust_perfmon/d' /etc/fkt/fkt.conf
expect 'and takes it back there' sh -c '/usr/libexec/fkt/apply-settings && grep N /sys/module/fkt/parameters/trust_perfmon'
expect 'a doctor is pleased with a member' says 0 'you may record' as member fkt doctor
expect 'and not with others' says 1 'PROBLEM  permissions .*members of the group tracing' as other fkt doctor
expect 'the releases of tools and module are told' says 0 '^module: 0' fkt --version

# A new module while the old one records.
recorder() {
	grep -lx fkt_record /proc/[0-9]*/comm | sed 's|/proc/\([0-9]*\)/comm|\1|'
}

new=$(echo /root/fkt/fkt-dkms_*.deb)
release=$(dpkg-deb -f "$new" Version)
loaded() {
	[ "$(cat /sys/module/fkt/version)" = "$1" ]
}
old=$(cat /sys/module/fkt/version)
expect 'the same module need not be replaced' /usr/libexec/fkt/replace-module
as member fkt_record -n -o long.fkt 2>long.said &
recording system
expect 'a new one is installed while it records, and that it waits is said' \
	says 0 'is in use\. When its recording has ended' apt-get -q -y install "$new"
expect 'the old one is still there' loaded "$old"
expect 'the recording goes on' as member fkt_enable system
kill -TERM "$(recorder)"
wait
expect 'and ends in order' as member fkt_print --summary long.fkt
for _ in {1..100}; do ! loaded "$release" 2>/dev/null || break; sleep 0.1; done
expect 'then the new one is loaded' loaded "$release"
expect 'it is what DKMS has built' [ "$(cat /sys/module/fkt/srcversion)" = "$(modinfo -F srcversion fkt)" ]
expect 'nothing is left of the old one' not test -e "/var/lib/dkms/fkt/$old"
expect 'it records' as member fkt_record -o new.fkt true
expect 'the doctor tells both releases' says 0 "note +module +release $release is loaded; these tools are" as member fkt doctor

# The services. The flight recorder has a trigger, and takes a snapshot when it is told to.
for unit in fkt-flight fkt@sched; do
	expect "$unit is hardened" systemd-analyze --no-pager --threshold=29 security $unit.service
done
printf '[@flight]\nring = 8M\nno-command\ntrigger = sys_exit:write ret==-ENOSPC\ntimes = 1\n' >>/etc/fkt/fkt.conf
# in_journal PATTERN: of the flight recorder; it may take a moment.
in_journal() {
	for _ in {1..100}; do
		! journalctl -q -o cat -u fkt-flight | grep -E "$1" || return 0
		sleep 0.1
	done
	journalctl -q -o cat -u fkt-flight
	return 1
}
modprobe -r fkt
expect 'without the module it says that it does not start' says 1 'fkt-flight\.service' systemctl start fkt-flight
modprobe fkt
expect 'it starts' systemctl start fkt-flight
recording system
expect 'others are told whose recording it is' says 1 'systemctl stop fkt-flight\.service' fkt_record -o no.fkt true
expect 'by the doctor, too' says 0 'note +recording .*fkt-flight\.service' fkt doctor
expect 'and runs' systemctl is-active fkt-flight
expect 'reloading it' systemctl reload fkt-flight
expect 'takes a snapshot, which is in the journal' in_journal 'fkt_record: .*trace\.1: [1-9][0-9]* events'
expect 'and can be read' fkt_print --summary /var/lib/fkt/flight/trace.1
expect 'by root alone' not as member test -e /var/lib/fkt/flight/trace.1
sh -c 'echo x >/dev/full' 2>/dev/null
expect 'what it waits for is in the journal' in_journal 'triggered by sys_exit:write ret==-ENOSPC: '
expect 'with its snapshot' in_journal 'fkt_record: .*trace\.2: [1-9][0-9]* events'
expect 'which can be read' says 0 'ENOSPC' fkt_print --summary /var/lib/fkt/flight/trace.2
expect 'it stops' systemctl stop fkt-flight
expect 'in order, and leaves nothing but snapshots' \
	sh -c 'test ! -e /var/lib/fkt/flight/trace && systemctl show -p Result fkt-flight | grep success'
expect 'a set is recorded' systemctl start fkt@sched
recording process
expect 'until it is stopped' systemctl stop fkt@sched
expect 'with its events' sh -c 'fkt_print --no-summary /var/lib/fkt/sched/trace | grep switch_to'

# It goes on until the packages go.
systemctl start fkt@sched
recording process
# Locked down, with the module there: nobody may trace, and there is no way back.
echo confidentiality >/sys/kernel/security/lockdown
for user in member root; do
	expect "$user is told of the lockdown" says 1 'is locked down for confidentiality' as $user fkt_record -o no.fkt true
	expect "the doctor tells $user" says 1 'PROBLEM  lockdown .*for confidentiality' as $user fkt doctor
done
expect 'others are told of the group' says 1 'members of the group tracing' as other fkt_record -o /tmp/no.fkt true

# And away.
expect 'a recording goes on' systemctl is-active fkt@sched
expect 'it goes' apt-get -q -y purge fkt fkt-dkms fkt-doc libfkt0 libfkt-dev python3-fkt
expect 'with the recording' not systemctl is-active fkt@sched
expect 'with the module' not test -d /sys/module/fkt
expect 'and the group' not getent group tracing
left=$(find / -xdev -name '*fkt*' ! -path '/home/*' ! -path '/tmp/*' ! -path '/root/fkt*' ! -path '/proc/*' ! -path '/var/log/*' 2>/dev/null)
expect "and all files: $left" [ -z "$left" ]
echo 'all done'
