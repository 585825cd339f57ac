# SPDX-License-Identifier: GPL-2.0-only
# limit: 180 s
#
# What -P fetches by names, as the kernel's types have them: the same as ftrace's kprobe events fetch from where pahole says
# that it is, or by the same words where the kernel knows them (6.5 and later).

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
pahole -C file,path,inode,dentry,qstr,super_block,open_how /sys/kernel/btf/vmlinux >types || die 'pahole knows no types'

# at STRUCT FIELD: its offset.
at() {
	awk -v struct="$1" -v field="$2" '
		$0 == "struct " struct " {" { in_it = 1 }
		/^}/ { in_it = 0 }
		in_it && $0 ~ "[ *]" field "(\\[[0-9]*\\])?;" && match($0, /\/\* +[0-9]+/) {
			print substr($0, RSTART + 2, RLENGTH - 2) + 0
			exit
		}' types
}

inode=$(at file f_inode)
dentry=$(($(at file f_path) + $(at path dentry)))
name=$(($(at dentry d_name) + $(at qstr name)))
check "pahole knows where fields are ($inode, $dentry, $name)" [ "$name" -gt 0 ]

# What FKT is told, and what ftrace is told that does not know fields.
named='vfs_read ino=file->f_inode->i_ino mode=file->f_inode->i_mode flags=file->f_flags at=file->f_path.dentry name=file->f_path.dentry->d_name.name:string short=file->f_path.dentry->d_iname:string magic=file->f_inode->i_sb->s_magic len=count to=buf file bytes=count:u8'
offsets="vfs_read ino=+$(at inode i_ino)(+$inode(%di)):u64 mode=+$(at inode i_mode)(+$inode(%di)):u16 flags=+$(at file f_flags)(%di):u32 at=+$dentry(%di):x64 name=+0(+$name(+$dentry(%di))):string short=+$(at dentry d_iname)(+$dentry(%di)):string magic=+$(at super_block s_magic)(+$(at inode i_sb)(+$inode(%di))):u64 len=%dx:u64 to=%si:x64 file=%di:x64 bytes=%dx:u8"
all='do_sys_openat2 $arg*'
registers='do_sys_openat2 dfd=%di:s32 filename=%si:x64 how=%dx:x64'
mixed="do_sys_openat2 how->flags mode=how->mode:x16 how=+0(how):u64 \$arg1 filename:ustring"
plain="do_sys_openat2 flags=+0(%dx):u64 mode=+$(at open_how mode)(%dx):x16 how=+0(%dx):u64 arg4=%di:x64 filename=+0(%si):ustring"
places=(p:by_name "$named" "$offsets" p:all "$all" "$registers" p:mixed "$mixed" "$plain")

echo 0 >$tracing/tracing_on
echo 16384 >$tracing/buffer_size_kb
knows_fields=
grep -qF '<argname>[->field' $tracing/README && knows_fields=1
options=()
names=()
for ((i = 0; i < ${#places[@]}; i += 3)); do
	echo "${places[i]} ${places[i + 2]}" >>$tracing/kprobe_events || die "ftrace does not take ${places[i + 2]}"
	options+=(-P "${places[i]} ${places[i + 1]}")
	names+=("${places[i]#*:}")
done
if [ "$knows_fields" ]; then
	echo "p:its_own $named" >>$tracing/kprobe_events || die "ftrace does not take $named"
	options+=(-P "p:its_own $named")
	names+=(its_own)
fi
start_recorder -n -p 12 -o same "${options[@]}"
echo >$tracing/trace
echo 1 >$tracing/tracing_on
echo 1 >$tracing/events/kprobes/enable
workload >/dev/null
cat /no/such/file 2>/dev/null
echo 0 >$tracing/events/kprobes/enable
echo 0 >$tracing/tracing_on
stop_recorder
check 'fkt_record ends well' [ "$status" = 0 ]
check 'FKT lost nothing' [ "$(lost recorder.err)" = 0 ]
fkt_print --no-summary --time=cycles same >same.txt
cat $tracing/trace >ftrace.txt
echo >$tracing/kprobe_events
check 'FKT and ftrace saw the same' perl "$TOP/tests/vm/same_events.pl" same.txt ftrace.txt "${names[@]}"

# What the program itself can tell; a field of a result; and what a module has, of its own types.
echo text >a_file
expect 0 fkt_record -o known -P 'vfs_read file->f_inode->i_ino file->f_path.dentry->d_iname' \
	-P 'r:do_filp_open $retval->f_inode->i_ino $retval->f_path.dentry->d_iname' \
	-P 'ext4:ext4_file_open inode->i_ino filp->f_path.dentry->d_iname' head a_file
ino=$(stat -c %i a_file)
fkt_print --no-summary known >known.txt
for place in vfs_read do_filp_open%return ext4:ext4_file_open; do
	check "$place: the inode number and the name" \
		grep -qE " head .* $place +i_ino=$ino d_iname=\"a_file\"$" known.txt
done
check 'as JSON' grep -qE "\"args\":\{\"i_ino\":$ino,\"d_iname\":\"a_file\"\}" <(fkt_print --format json --no-summary known)

# What is wrong. It is the same on all kernels: one of them is enough.
wrong() {
	case $(uname -r) in
	6.1.*)	;;
	*)	return ;;
	esac
	expect "$1" fkt_record -o none -P "$2" true
	said "$3"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}
wrong 1 'vfs_read fil' 'vfs_read has no argument fil; is file meant'
wrong 1 'vfs_read nonsense' 'vfs_read has no argument nonsense$'
wrong 1 'vfs_read file->f_inoe' 'struct file has no field f_inoe; is f_inode meant'
wrong 1 'vfs_read file->pos' 'is f_pos meant'
wrong 1 'vfs_read file->f_path->dentry' 'file->f_path is a struct path, and no pointer: write \.dentry'
wrong 1 'vfs_read file.f_pos' 'file is a struct file \*: write ->f_pos'
wrong 1 'vfs_read count->x' 'count is a size_t, and no pointer'
wrong 1 'vfs_read file->private_data->x' 'points to a void, and no struct'
wrong 1 'vfs_read file->' 'which field of struct file'
wrong 1 'vfs_read file-f' 'write ->FIELD'
wrong 1 'r:vfs_read $retval->x' 'retval is a ssize_t, and no pointer'
wrong 2 'vfs_read file->f_path' 'is a struct path: write which field of it'
wrong 2 'vfs_read file:string' 'file is a struct file \*, and no string'
wrong 2 'vfs_read $retval->x' 'begin with r:'
wrong 2 '0xffffffff81000000 file' 'of which function'
wrong 1 'no_such_function file' 'no function no_such_function'
insmod "$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko" || die 'the module does not load'
wrong 1 'fkt_event_call number' 'no type information \(BTF\) of that module; use .argN'
rmmod fkt_event

check 'the kernel is content' not grep -E 'WARNING|BUG' <(dmesg)
