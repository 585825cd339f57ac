# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 600 s
#
# Functions with fields, -F 'FUNCTION FIELD…': the fields are those that ftrace's kprobe events fetch at the same time by the same
# words, the calls are calls as ever, in whatever they are shown; and nothing that is asked for brings the kernel down.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

# Beside ftrace, where that knows fields (6.5 and later). Of memory that is not there it leaves what was in its buffer before.
named='vfs_read ino=file->f_inode->i_ino mode=file->f_inode->i_mode flags=file->f_flags name=file->f_path.dentry->d_name.name:string len=count to=buf file bytes=count:u8 size=file->f_inode->i_size:s64'
more='do_sys_openat2 how->flags mode=how->mode:x16 filename:ustring dfd low=$arg2:b4@0/8 long=+0(how):u8[16]'
theirs='do_sys_openat2 flags=how->flags mode=how->mode:x16 filename=+0($arg2):ustring dfd=dfd:s32 low=$arg2:b4@0/8 long=+0($arg3):u8[16]'
if grep -qF '<argname>[->field' $tracing/README; then
	echo 0 >$tracing/tracing_on
	echo 16384 >$tracing/buffer_size_kb
	echo "p:vfs_read $named" >>$tracing/kprobe_events || die "ftrace does not take $named"
	echo "p:do_sys_openat2 $theirs" >>$tracing/kprobe_events || die "ftrace does not take $theirs"
	names=(vfs_read do_sys_openat2)
	same_as_kprobe_events -F "$named" -F "$more"
	echo >$tracing/kprobe_events
fi

# What the program itself can tell, and the call around it.
echo text >a_file
ino=$(stat -c %i a_file)
short=$(short_name)
expect 0 fkt_record -o known -F 'vfs_read file->f_path.dentry->d_name.name:string count $retval' -F 'rw_verify_area read_write' \
	-F "ext4:ext4_file_open inode->i_ino filp->f_path.dentry->$short \$comm" head a_file
events known >known.txt
check 'the fields of the entry' grep -qE '^[0-9]+ [0-9]+ [0-9a-f]+ vfs_read +name="a_file" count=[0-9]+$' known.txt
check 'and the result of the exit' grep -qE ' vfs_read += 5$' known.txt
check 'of a module' grep -qE " ext4_file_open +i_ino=$ino ${short##*.}=\"a_file\" arg3=\"head\"$" known.txt
pid=$(awk '/ name="a_file"/ { print $2; exit }' known.txt)
awk -v pid="$pid" '$2 == pid && /vfs_read|rw_verify_area/ { $1 = $2 = $3 = ""; printf "%s;", $0 }' known.txt | tr -s ' ' >nested
check 'calls are within each other' grep -qE \
	' vfs_read name="a_file" count=[0-9]+; rw_verify_area read_write=0; rw_verify_area = 0; vfs_read = 5;' nested
check 'as a graph' grep -qE 'vfs_read.*name="a_file"' <(fkt_print --no-summary --graph known)
check 'as JSON' grep -qE '"args":\{"name":"a_file","count":[0-9]+\}' <(fkt_print --format json --no-summary known)
check 'in sums' grep -qE '^"?a_file"?,[1-9]' <(fkt_print --by arg:name --code vfs_read --format csv known)
check 'in SQL' [ "$(fkt_query --format csv known "SELECT max(result) FROM calls WHERE name = 'vfs_read' AND args ->> 'name' = 'a_file'" | tail -1)" = 5 ]
check 'in exports' grep -q '"name": *"a_file"' <(fkt_export -q --to chrome known)

# With what else there is of functions.
expect 0 fkt_record --args -o other -F 'vfs_read count' -F 'vfs_*' -F '!vfs_open' --stack vfs_read --graph 'vfs_*' head a_file
check 'fields go before a glob' grep -qE ' vfs_read +count=[0-9]+$' <(events other)
check 'others have their arguments' grep -qE ' vfs_fstat[a-z]* .*=|vfs_statx.*=' <(events other)
check 'with a stack' grep -qE 'ksys_read|__x64_sys_read' <(fkt_print --no-summary --stack --code vfs_read other)
expect 0 fkt_record -o layers -k files -F 'vfs_read count' head a_file
check 'and with its layer' grep -qE ' vfs_read +count=[0-9]+$' <(events layers)
expect 0 fkt_record -o long --longer-than 50ms -F 'hrtimer_nanosleep mode clockid $comm' sleep 0.1
check 'with those that take long' grep -qE ' hrtimer_nanosleep +mode=HRTIMER_MODE_[A-Z]+ clockid=[01] arg3="sleep"$' <(events long)
expect 0 fkt_record -o long --longer-than 50ms -F 'hrtimer_nanosleep +0(\16):string text=@linux_banner:string' sleep 0.1
check 'strings have what room there is then' grep -qE ' text="Linux version [^"]{10,30}"$' <(events long)
expect 0 fkt_record -o entries -F 'do_exit code' true
check 'an entry alone' grep -qE ' do_exit +code=0$' <(events entries)

the_rest_takes_long

# What is not there is nothing, and what fetches is not fetched from.
expect 0 fkt_record -o nothing -F 'vfs_read a=+0(\0) b=+8(+0(\0)) c=+0(\4096):string d=+0x7fffffff(file):u8 e=+0(\0x8000000000000000):string' \
	head a_file
check 'nothing is there' grep -qE 'a=0x0 b=0x0 c="\(fault\)" d=[0-9]+ e="\(fault\)"' <(events nothing)
faults=()
for function in fixup_exception search_exception_tables search_extable copy_from_kernel_nofault copy_from_kernel_nofault_allowed \
	copy_from_user_nofault ex_get_fixup_type bad_area_nosemaphore do_user_addr_fault kernelmode_fixup_or_oops vfs_read; do
	fkt_record --list-functions $function >/dev/null 2>&1 && faults+=(-F "$function a=+0(\\16) b=+0(\\0xffffffffff600000):string")
done
check "functions of the fault itself (${#faults[@]})" [ ${#faults[@]} -ge 6 ]
start_recorder -n -p 12 -o itself "${faults[@]}"
for _ in {1..200}; do
	head a_file
done >/dev/null
stop_recorder
check 'the recording ends well' [ "$status" = 0 ]
check 'what they would read is nothing' grep -qE ' vfs_read +a=0x0 b="\(fault\)"$' <(events itself)
check 'of what is called by the fetching there is none' grep -qE ' (fixup_exception|copy_from_[a-z_]*nofault)$' <(events itself)
for function in '*' 'copy_*' '*fault*'; do
	expect 0 fkt_record -p 14 -o all -F "$function" -F 'vfs_read a=+0(\16) file->f_path.dentry->d_name.name:string' head a_file
	check "among all of $function" grep -qE ' vfs_read +a=0x0 name="a_file"$' <(events all)
done

# Operations at random.
for seed in 1 2 3; do
	check "random operations, seed $seed" fetch_ops $seed functions
done
check 'the kernel is content' is_content

# What is wrong is said in a sentence, and no trace is left.
wrong() {
	expect "$1" fkt_record -o none -F "$2" true
	said "$3"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}
wrong 1 'vfs_read fil' 'vfs_read has no argument fil; is file meant'
wrong 1 'vfs_read file->f_inoe' 'struct file has no field f_inoe; is f_inode meant'
wrong 2 'vfs_read file->f_path' 'is a struct path: write which field of it'
wrong 2 'vfs_read %di' 'registers are there at addresses \(-P\), not here: \$argN are'
wrong 2 'vfs_read $stack0' 'the stack is fetched from by -P'
wrong 2 'vfs_read r=$retval' "the exit has the result as it is, which is \\\$retval alone"
wrong 2 'vfs_read $retval->x' "what it leads to is recorded by -P 'r:vfs_read …'"
wrong 1 'do_exit $retval' 'the exit of do_exit is not traced: it does not return'
wrong 2 'vfs_read $arg5' 'vfs_read has 4 arguments'
wrong 2 "vfs_read $(printf 'count %.0s' {1..15})" 'room for 14 arguments'
wrong 1 'vfs_raed count' 'no such function; did you mean vfs_read'
wrong 1 'vfs_* count' 'has no argument count'
wrong 1 'do_mmap uf' 'is behind the first 6 arguments, which can be had here; -P has it'
expect 1 fkt_record -o none -F 'vfs_read count' -F 'vfs_r* file' true
said 'vfs_read is already named with fields'
expect 2 fkt_record -o none --longer-than 1ms -F "vfs_read $(printf 'count %.0s' {1..7})" true
said 'room for 6 arguments'
