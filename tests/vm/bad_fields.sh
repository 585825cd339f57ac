# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# All that is read of memory while every function is traced: fields and strings where nothing is, of tracepoints, addresses and
# returns, strings of system calls, stacks, triggers. Nothing faults, nobody sleeps, and all is there.

. "$TOP/tests/vm/lib.sh"

# The page of vsyscall(), the ends of the two halves, and the top: a string there has no end.
nothing='a=+0(\0) b=+8(+0(\0)):string c=+0(\0xffffffffff600000):u32 d=+0(\0xfffffffffffffffc):string e=+0(\0xffff800000000000) f=+0(\0x7fffffffffff):string'
said_nothing='a=0x0 b="(fault)" c=0 d="(fault)" e=0x0 f="(fault)"'
everything=(-k system -F '*' --args --strings=64 -e '*:*' -e "sched:sched_waking $nothing" -e "signal:signal_generate $nothing"
	-P "p:probed vfs_read $nothing g=+0(buf):string h=+0x7fffffff(file):u64" -P "r64:returned vfs_read $nothing")
stacks='switch,wakeup,sys_*,signal:*,block:*,vfs_*,probed,returned'
printf '/nowhere/mapped\0' >mapped
cat >load <<'END'
{
	rm -rf /mnt/disk/wood
	memory_calls mapped
	strange_calls
	traps
	calls 100
	cat /no/such/file
	(kill -USR1 $BASHPID)
	dd if=/dev/zero of=f bs=64k count=4 conv=fsync
} >/dev/null 2>&1
true
END

# wrong PATTERN OPTION…: one sentence, and no trace.
wrong() {
	run fkt_record -o none -F '*' "${@:2}" true
	check "refused: ${*:2}" [ "$status" != 0 ]
	said "$1"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}
wrong 'has no field pidd' -e 'sched:sched_switch prev->pidd'
wrong 'no string' -e 'sched:sched_switch prev->pid:string'
wrong 'has no argument nonsense' -e 'sched:sched_switch nonsense->x'
wrong 'there is no such tracepoint' --ring 4M --trigger 'signal:nothing'
wrong 'it has sig' --ring 4M --trigger 'signal:signal_generate sigg==1'

dmesg -C
echo '--- to a file'
expect 0 fkt_record -p 13 -s 1600M -o t "${everything[@]}" --stack "$stacks" -- bash load
check 'many events' [ "$(recorded)" -gt 20000 ]
expect 0 fkt_print -q t
fkt_print --no-summary --code sched:sched_waking,signal:signal_generate,probed,returned t >fields
for what in sched_waking signal_generate probed returned; do
	check "$what is there" grep -qE "[ :]$what " fields
	check "$what: nothing is what it says" [ "$(grep -E "[ :]$what " fields | grep -vcF "$said_nothing")" = 0 ]
done
check 'strings of system calls' grep -qE 'data .*bytes=[1-9]' <(fkt_print --no-summary --code data t)
# A slow kernel loses many events.
[ "$(lost)" != 0 ] || check 'each of them' grep -qF '/nowhere/mapped' <(fkt_print --no-summary --code data t)
check 'stacks' grep -qE '^ *vfs_read\+' <(fkt_print --no-summary --stack --code probed t)
fkt_print --strace t >strace
check 'lines' [ -s strace ]

echo '--- to a ring, with a trigger that nothing stops'
rm -f t t.*
expect 0 fkt_record --ring 64M -o t "${everything[@]}" --stack "$stacks" --trigger sys_enter:getppid \
	--trigger 'signal:signal_generate sig==10' --times 3 --every 100ms -- bash load
check 'it has fired' grep -q 'triggered by ' .err
for file in t.[0-9]*; do
	expect 0 fkt_print -q "$file"
done
check 'the kernel is content' is_content
