# SPDX-License-Identifier: GPL-2.0-only
# limit: 180 s
#
# What -P fetches by names, as the kernel's types have them: the same as ftrace's kprobe events fetch from where pahole says
# that it is, or by the same words where the kernel knows them (6.5 and later); arrays, bit fields, and arguments at returns.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
pahole -C file,file_operations,path,inode,dentry,qstr,super_block,open_how /sys/kernel/btf/vmlinux >types || die 'pahole knows no types'

# at STRUCT FIELD: its offset.
at() {
	awk -v struct="$1" -v field="$2" '
		$0 == "struct " struct " {" { in_it = 1 }
		/^}/ { in_it = 0 }
		in_it && $0 ~ "([ *]" field "(\\[[0-9]*\\])?;)|(\\(\\*" field "\\))" && match($0, /\/\* +[0-9]+/) {
			print substr($0, RSTART + 2, RLENGTH - 2) + 0
			exit
		}' types
}

inode=$(at file f_inode)
dentry=$(($(at file f_path) + $(at path dentry)))
name=$(($(at dentry d_name) + $(at qstr name)))
check "pahole knows where fields are ($inode, $dentry, $name)" [ "$name" -gt 0 ]

short=$(short_name)

# What FKT is told, and what ftrace is told that does not know fields.
named='vfs_read ino=file->f_inode->i_ino mode=file->f_inode->i_mode flags=file->f_flags at=file->f_path.dentry name=file->f_path.dentry->d_name.name:string short=file->f_path.dentry->'$short':string magic=file->f_inode->i_sb->s_magic len=count to=buf file bytes=count:u8'
offsets="vfs_read ino=+$(at inode i_ino)(+$inode(%di)):u64 mode=+$(at inode i_mode)(+$inode(%di)):u16 flags=+$(at file f_flags)(%di):u32 at=+$dentry(%di):x64 name=+0(+$name(+$dentry(%di))):string short=+$(at dentry "${short%.*}")(+$dentry(%di)):string magic=+$(at super_block s_magic)(+$(at inode i_sb)(+$inode(%di))):u64 len=%dx:u64 to=%si:x64 file=%di:x64 bytes=%dx:u8"
all='do_sys_openat2 $arg*'
registers='do_sys_openat2 dfd=%di:s32 filename=%si:x64 how=%dx:x64'
mixed="do_sys_openat2 how->flags mode=how->mode:x16 how=+0(how):u64 \$arg1 filename:ustring"
plain="do_sys_openat2 flags=+0(%dx):u64 mode=+$(at open_how mode)(%dx):x16 how=+0(%dx):u64 arg4=%di:x64 filename=+0(%si):ustring"
# ftrace leaves what an event had before where an array is not there: each of these is.
arrays='vfs_read a=+0(%di):x8[16] b=+8(%di):u16[3] c=+0(+'$inode'(%di)):s32[4] d=+0(%di):x64[2] e=+0(%di):u8[1] g=@linux_banner:u8[4] op=+0(%di):symbol[1]'
bits="do_sys_openat2 low=%si:b4@0/8 high=%si:b12@20/32 one=+0(%dx):b1@6/64 all=+0(%dx):b64@0/64 last=+0(%dx):b7@9/16"
# ftrace itself is not asked for a symstr: kallsyms_lookup() of these kernels writes a NUL 511 bytes behind where the name
# begins, which is in other events, or in memory that is somebody else's.
read_iter="+$(at file_operations read_iter)(+$(at file f_op)(%di))"
operations="operations=+$(at file f_op)(%di):symbol"
text="vfs_read symbol=$read_iter:symbol symstr=$read_iter:symstr $operations"
symbols="vfs_read symbol=$read_iter:symbol symstr=$read_iter:symbol $operations"
places=(p:by_name "$named" "$offsets" p:all "$all" "$registers" p:mixed "$mixed" "$plain"
	p:arrays "$arrays" "$arrays" p:bits "$bits" "$bits" p:text "$text" "$symbols")

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
# From 6.11 on.
if grep -qF 'kernel return probes support: $retval, $arg<N>' $tracing/README; then
	returned='vfs_read len=count second=$arg2 ino=file->f_inode->i_ino name=file->f_path.dentry->d_name.name:string ret=$retval:s64'
	echo "r64:returned $returned" >>$tracing/kprobe_events || die "ftrace does not take $returned"
	options+=(-P "r64:returned $returned")
	names+=(returned)
fi
same_as_kprobe_events "${options[@]}"
echo >$tracing/kprobe_events

# Bit fields and arrays by their names: the machine's own IPv4 socket, and the identity of the file system of the disk.
expect 0 fkt_record -o sock -P 'tcp_v4_connect sk->__sk_common.skc_family sk->__sk_common.skc_reuse reuseport=sk->__sk_common.skc_reuseport sk->__sk_common.skc_ipv6only sk->sk_protocol' \
	perl -MSocket -e 'socket S, AF_INET, SOCK_STREAM, 0; setsockopt S, SOL_SOCKET, SO_REUSEPORT, 1; connect S, pack_sockaddr_in 9, inet_aton "127.0.0.1"'
check 'bit fields' grep -q ' skc_family=2 skc_reuse=0 reuseport=1 skc_ipv6only=0 sk_protocol=6$' <(fkt_print --no-summary sock)
uuid=$(blkid -s UUID -o value "$(findmnt -n -o SOURCE /mnt/disk)" | tr -d - | sed 's/../0x&,/g; s/,$//; s/0x0\([0-9a-f]\)/0x\1/g')
expect 0 fkt_record -o uuid -P 'ext4:ext4_file_open inode->i_sb->s_uuid.b:x8[16] numbers=inode->i_sb->s_uuid.b' touch a_file
check "the file system's UUID" grep -q " b={$uuid} numbers={[0-9]*,[0-9,]*}$" <(fkt_print --no-summary uuid)
check 'as JSON' grep -qE '"numbers":\[[0-9]+(,[0-9]+){15}\]}}' <(fkt_print --format json --no-summary uuid)

# Arguments at the return, while others are inside the same function: as their own entries recorded them.
start_recorder -n -o returns -P 'p:in hrtimer_nanosleep $arg1 mode=$arg2:u32 clockid' \
	-P 'r:out hrtimer_nanosleep $arg1 mode=$arg2:u32 clockid result=$retval:s64'
for n in 1 2 3 4 5 6 7 8; do
	sleep 0.$n &
	sleeps+=($!)
done
wait "${sleeps[@]}"
stop_recorder
# Of these alone: who slept when the recording began, returns as well.
of_sleeps() {
	events returns | awk -v sleeps=" ${sleeps[*]} " -v name="$1" '
		$4 == name && index(sleeps, " " $2 " ") { sub(/ result=0$/, ""); $1 = $3 = $4 = ""; print }' | sort
}
of_sleeps in >in
of_sleeps out >out
check 'eight went to sleep' [ "$(wc -l <in)" = 8 ]
check 'the returns have what the entries had' diff in out
expect 0 fkt_record -o returns -P "r:vfs_read \$arg* ino=file->f_inode->i_ino name=file->f_path.dentry->$short result=\$retval:s64" head a_file
check 'and fields that they lead to' \
	grep -qE " head .* count=[0-9]+ pos=0x[0-9a-f]+ ino=$(stat -c %i a_file) name=\"a_file\" result=[05]$" <(fkt_print --no-summary returns)

the_rest_takes_long

# Operations at random.
for seed in 1 2 3; do
	check "random operations, seed $seed" fetch_ops $seed
done

# What the program itself can tell; a field of a result; and what a module has, of its own types.
echo text >a_file
# do_filp_open() has another name in 7.2.
opens=$(grep -owE 'do_(filp|file)_open' /proc/kallsyms | head -1)
expect 0 fkt_record -o known -P "vfs_read file->f_inode->i_ino file->f_path.dentry->$short" \
	-P "r:$opens \$retval->f_inode->i_ino \$retval->f_path.dentry->$short" \
	-P "ext4:ext4_file_open fault=+0(\\16):u32[3] bytes=+u0(\\16):u8[9] inode->i_ino filp->f_path.dentry->$short" head a_file
ino=$(stat -c %i a_file)
fkt_print --no-summary known >known.txt
for place in vfs_read "$opens%return" 'ext4:ext4_file_open +fault=\{0,0,0\} bytes=\{0(,0){8}\}'; do
	check "$place: the inode number and the name" \
		grep -qE " head .* $place +i_ino=$ino ${short##*.}=\"a_file\"$" known.txt
done
check 'as JSON' grep -qE "\"args\":\{\"i_ino\":$ino,\"${short##*.}\":\"a_file\"\}" <(fkt_print --format json --no-summary known)

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
wrong 2 'vfs_read file->f_inode->i_sb->s_uuid' 'is a uuid_t: write which field of it'
wrong 2 'vfs_read %di:u8[4]' 'an array is in memory: \+OFFSET\(…\):u8\[4\]'
wrong 2 'vfs_read +0(%di):u8[65]' '1 to 64 elements'
wrong 2 'vfs_read +0(%di):u8[0]' '1 to 64 elements'
wrong 2 'vfs_read +0(%di):u64[15]' 'room for 112 bytes'
wrong 2 'vfs_read +0(%di):u64[14] %di' 'room for 14 arguments'
wrong 2 'vfs_read +0(%di):u8[4' 'write TYPE\[COUNT\]'
wrong 2 'vfs_read +0(%di):string[2]' 'arrays are of numbers'
wrong 2 'vfs_read %di:b4' 'write bBITS@FIRST/WORDBITS'
wrong 2 'vfs_read %di:b4@0/24' 'a word of 8, 16, 32 or 64'
wrong 2 'vfs_read %di:b4@5/8' 'a word of 8 bits does not have these'
wrong 2 'vfs_read+5 file' 'when a function is entered, not later'
wrong 1 'no_such_function file' 'no function no_such_function'
insmod "$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko" || die 'the module does not load'
wrong 1 'fkt_event_call number' 'no type information \(BTF\) of that module; use .argN'
rmmod fkt_event

check 'the kernel is content' is_content
