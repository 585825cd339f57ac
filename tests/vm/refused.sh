# SPDX-License-Identifier: GPL-2.0-only
# limit: 90 s
#
# Who may not record, and where: one clear sentence, status 1, nothing left behind, and no harm to what runs already.

. "$TOP/tests/vm/lib.sh"

# A second recorder, while one runs.
start_recorder -n -o first
expect 1 fkt_record -o second true
one_sentence
said "/dev/fkt: another recording is running: process $recorder's"
check 'no second trace' [ ! -e second ]
expect 1 fkt_record -o first true
check 'the first one is not touched' [ -s first ]
calls 1000 >/dev/null
stop_recorder
check 'the first one ends well' [ "$status" = 0 ]
check 'with all its calls' [ "$(count first 006e)" = 1000 ]

# Not root.
mkdir -m 777 open
expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups fkt_record -o open/t true
one_sentence
said '/dev/fkt: not allowed; only root may trace'
check 'no trace' [ ! -e open/t ]
chmod 666 /dev/fkt
expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups fkt_record -o open/t true
said 'not allowed'
expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups fkt_setmask system
said 'not allowed'
expect 0 setpriv --bounding-set=-all,+perfmon --inh-caps=-all,+perfmon true
chmod 600 /dev/fkt

# A group that may open the device, as the packages have it.
chgrp daemon /dev/fkt
chmod 660 /dev/fkt
expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups fkt_record -o open/t true
one_sentence
said 'members of the group daemon'
expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups fkt_setmask system
said 'members of the group daemon'
{ grep -v ^daemon: /etc/group; echo daemon:x:1:nobody; } >group
mount --bind group /etc/group
expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups fkt_record -o open/t true
said 'you are a member of the group daemon, but this session began before that: log in again'
umount /etc/group
expect 1 setpriv --reuid=65534 --regid=daemon --clear-groups fkt_record -o open/t true
said 'a program with CAP_PERFMON'
expect 1 setpriv --reuid=65534 --regid=daemon --clear-groups fkt doctor
check 'the doctor knows why' grep -qE "^PROBLEM +permissions +fkt_record's file has no capabilities: root alone may record" .out
expect 1 setpriv --reuid=65534 --regid=daemon --clear-groups fkt_record --list-functions vfs_read
said '/sys/kernel/tracing: what can be traced is listed there, for root alone'
trusted=(setpriv --reuid=65534 --regid=daemon --clear-groups --inh-caps=+perfmon --ambient-caps=+perfmon)
expect 0 "${trusted[@]}" fkt_record -o open/t --pid 1 --stack switch --longer-than 1us true
expect 1 "${trusted[@]}" fkt_record -o open/u --strings true
said '/dev/fkt: the memory of programs is for root alone .*trust_perfmon'
check 'no trace' [ ! -e open/u ]
echo Y >/sys/module/fkt/parameters/trust_perfmon
expect 0 "${trusted[@]}" fkt_record -o open/u --strings true
echo N >/sys/module/fkt/parameters/trust_perfmon

# Capabilities that the program's file has are for those who may open the device.
cp "$(command -v fkt_record)" ./with_caps
setcap cap_perfmon+ep ./with_caps
expect 0 setpriv --reuid=65534 --regid=daemon --clear-groups ./with_caps -o open/v grep ^Cap /proc/self/status
for set in Inh Prm Eff Amb; do
	check "the command has no capability ($set)" grep -q "^Cap$set:.0000000000000000" .out
done
mkdir tools
cp "$(command -v fkt)" tools/fkt
cp -a with_caps tools/fkt_record
expect 0 setpriv --reuid=65534 --regid=daemon --clear-groups tools/fkt doctor
check 'the doctor is pleased' grep -qE '^good +permissions +you may record;' .out
expect 1 setpriv --reuid=65534 --regid=daemon --clear-groups --no-new-privs tools/fkt doctor
check 'the doctor knows why' grep -qE '^PROBLEM +permissions +this session may have no capability of a file' .out
chmod 660 /dev/fkt
chgrp root /dev/fkt
expect 1 setpriv --reuid=65534 --regid=daemon --clear-groups ./with_caps -n -o open/w
said 'not allowed; only root may trace'
chmod 600 /dev/fkt
check 'the device is for root alone' [ "$(stat -c '%a %U' /dev/fkt)" = '600 root' ]

# Where nothing can be written.
mkdir ro
mount -t tmpfs -o ro none ro
expect 1 fkt_record -o ro/t true
one_sentence
said 'ro/t: .*Read-only file system'
umount ro
expect 1 fkt_record -o . true
one_sentence
said 'this is a directory'
expect 1 fkt_record -o no/such/dir/t true
one_sentence
said 'no/such/dir/t: .*No such file or directory'
expect 1 fkt_record -o /proc/version true
one_sentence
expect 0 fkt_record -o /dev/null true
check 'the command ran' [ "$status" = 0 ]
echo precious >immutable
chattr +i immutable
expect 1 fkt_record -o immutable true
one_sentence
check 'it is as it was' [ "$(cat immutable)" = precious ]
chattr -i immutable

# Without the module.
rmmod fkt || die 'rmmod'
expect 1 fkt_record -o t true
one_sentence
said '/dev/fkt: no such device; is the module loaded\? \(modprobe fkt\)'
check 'no trace' [ ! -e t ]
expect 1 fkt_setmask system
one_sentence
said 'is the module loaded'
insmod /run/fkt-vm/fkt.ko || die 'insmod'
expect 0 fkt_record -o t true
