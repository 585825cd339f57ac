# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that is locked down, as with Secure Boot, lets FKT do what it lets its own tracers do: for integrity, what does
# not depend on what a program says of the kernel's functions; for confidentiality, nothing. The last test of a guest: there
# is no way back.

. "$TOP/tests/vm/lib.sh"

lockdown=/sys/kernel/security/lockdown
[ ! -e $lockdown ] || umount /sys/kernel/security
run fkt doctor
check 'the doctor does not say what it cannot know' grep -qE '^note +lockdown +it is not known .*securityfs' .out
mount -t securityfs none /sys/kernel/security
[ -w $lockdown ] || skip 'this kernel cannot be locked down'

expect 0 fkt_record -o t -F vfs_read true
expect 0 fkt_record -o t -P 'vfs_read file=%di text=+0(%si):string' true
exec 9<>/dev/fkt

echo integrity >$lockdown
expect 0 fkt_record -o t true
check 'system calls are recorded' [ "$(recorded)" -gt 10 ]
expect 0 fkt_record -o t -e sched:sched_switch true
expect 0 fkt_record -o t -P vfs_read true
expect 0 fkt_record -o t -F vfs_read cat /etc/hostname
said 'locked down for integrity'
entries=$(events t | grep -c ' vfs_read$')
check "functions have entries ($entries)" [ "$entries" -gt 0 ]
check 'and no exits' [ "$(events t | grep -c ' vfs_read_exit')" = 0 ]
# FKT_ADD_PROBES: a function whose exit is wanted.
check 'a program that asks for exits is refused' perl -e '
	open(my $fkt, "+<", "/dev/fkt") or die;
	my ($read) = map { /^([0-9a-f]+) T vfs_read$/ ? hex $1 : () } do { open my $f, "<", "/proc/kallsyms"; <$f> };
	for my $flags (0, 1) {
		my $spec = pack("Q L L C C C C L S S L", $read, 0x10000, 0x100, 0, 0, $flags, 0, 0, 0, 0, 0);
		# struct fkt_probes of FKT_PROVIDER_FUNCTION, the row 4
		my $functions = pack("L L L L Q Q L L", 40, 4, 1, length($spec), unpack("Q", pack("p", $spec)), 0, 0, 0);
		# _IOWR(FKT_IOC, 12, struct fkt_probes)
		my $done = ioctl($fkt, 3 << 30 | 40 << 16 | 0xfc << 8 | 12, $functions);
		my $error = $done ? 0 : $! + 0;
		print "flags $flags: error $error\n";
		exit 1 if $error != ($flags ? 0 : 1);
	}'

start_recorder -n -o running
echo confidentiality >$lockdown
calls 1000 >/dev/null
stop_recorder
check 'what runs goes on' [ "$status" = 0 ]
expect 1 fkt_record -o t true
said 'locked down for confidentiality'
one_sentence
# What could be traced is not told, either, but nobody is to look for a fault there.
for wanted in '-o t -F vfs_read true' '-o t -e sched:sched_switch true' '--list-functions vfs_read'; do
	# shellcheck disable=SC2086
	expect 1 fkt_record $wanted
	said 'locked down for confidentiality'
	one_sentence
done
# sendfile(2) begins a recording.
check 'nor by who has opened the device before' \
	perl -e 'exit(syscall(40, 1, 9, 0, 65536) != -1 || $! != 1)'
refuse 'nor is the mask set' fkt_setmask system
