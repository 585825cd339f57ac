# SPDX-License-Identifier: GPL-2.0-only
# limit: 180 s
#
# Addresses: FKT and ftrace's kprobe events fetch the same at the same places, and count the same hits; missed ones are
# told; and what must not be probed.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
module=$TOP/build/tests/vm/fkt_event/$(uname -r)/fkt_event.ko
fire=/sys/module/fkt_event/parameters/fire

# The first instruction behind the call of ftrace.
for behind in {5..40}; do
	echo "p:behind do_sys_openat2+$behind" >$tracing/kprobe_events 2>/dev/null && break
done
echo >$tracing/kprobe_events

# What both are told, but for the beginning.
open='do_sys_openat2 dfd=$arg1:s32 name=+0(%si):string flags=+0(%dx):u64 low=+0(%dx):x8 high=+7(%dx):s8 comm=$comm nr=\42:u16'
inner="do_sys_openat2+$behind a=%si b=\$stack0:x32 c=%di:s32 d=+0(+0(%sp)):u8 e=@linux_banner:u32 f=+0(\\16):string"
read='vfs_read ret=$retval:s64 low=$retval:u8 comm=$comm'
places=(p:open_at "$open" p:inner "$inner" r32:read_done "$read")

echo 0 >$tracing/tracing_on
echo 16384 >$tracing/buffer_size_kb
options=()
names=()
for ((i = 0; i < ${#places[@]}; i += 2)); do
	echo "${places[i]} ${places[i + 1]}" >>$tracing/kprobe_events || die "ftrace does not take ${places[i]}"
	options+=(-P "${places[i]} ${places[i + 1]}")
	names+=("${places[i]#*:}")
done
same_as_kprobe_events "${options[@]}"
while read -r name hits missed; do
	check "kprobe_profile counts $hits hits of $name, and $missed missed" \
		[ "$(grep -c " $name: " ftrace.txt)" = "$hits" ]
	check "FKT has no fewer" [ "$(grep -c " $name " same.txt)" -ge "$hits" ]
done <$tracing/kprobe_profile
echo >$tracing/kprobe_events

# More calls at a time than a kretprobe was given room for.
start_recorder -n -o missed -P hrtimer_nanosleep -P r1:hrtimer_nanosleep
for _ in 1 2 3 4 5; do
	sleep 0.7 &
	sleeps+=($!)
done
wait "${sleeps[@]}"
stop_recorder
check 'it says so' grep -q 'times an address was passed' recorder.err
missed=$(sed -n 's/.*: \([0-9]*\) times an address was passed.*/\1/p' recorder.err)
# One that began before the recording, as of those who wait for it to begin, may return in it.
read -r entered left < <(events missed | awk '
	$4 == "hrtimer_nanosleep" { entered++; seen[$2] = 1 }
	$4 == "hrtimer_nanosleep%return" && seen[$2] { left++ }
	END { print entered + 0, left + 0 }')
check "of $entered calls, $left returns and ${missed:-no} missed ones" [ $((left + ${missed:-0})) = "$entered" ]
check 'some are missed' [ "${missed:-0}" -gt 0 ]
check 'the trace says so too' grep -qx "missed=$missed" <(tr '\0' '\n' <missed)

# Strings share the room; the last one takes what it needs.
expect 1 fkt_record -o strings -P 'do_sys_openat2 a=+0(%si):string b=+0(%si):ustring c=+0(%di):string' cat "/etc/$(printf 'x%.0s' {1..60})"
check 'they are cut' grep -qE 'a="/etc/x{27}" b="/etc/x{27}" c="\(fault\)"' <(fkt_print --no-summary strings)

# A module's function, and the module goes.
insmod "$module" || die 'the module does not load'
start_recorder -n -o module -P 'fkt_event_call number=%di:s32 text=+0(%si):string' -P 'r:fkt_event:fkt_event_call $retval:s32'
echo 3 >$fire
check 'a module can go while it is traced' rmmod fkt_event
check 'and come back' insmod "$module"
echo 2 >$fire
stop_recorder
check 'fkt_record ends well' [ "$status" = 0 ]
check 'entries' [ "$(events module | sed -n "s/.*fkt_event_call  *number=\([0-9]*\) text=\"some text of the module's\"$/\1/p" | xargs)" = '0 1 2' ]
check 'returns' [ "$(events module | sed -n 's/.*fkt_event_call%return  *arg1=\(.*\)$/\1/p' | xargs)" = '0 -1 -2' ]

# The last function of a module: where nothing is behind it, the kernel panics when it puts a probe there. 6.1 does not read
# on, and newer ones have other modules' code behind it.
case $(uname -r) in
6.12.*)
	for place in fkt_event_exit r:fkt_event_exit; do
		expect 1 fkt_record -o last -P "$place" true
		said 'last function of its module'
	done
	rmmod fkt_event
	;;
*)
	expect 0 fkt_record -o last -P fkt_event_exit rmmod fkt_event
	check 'the last function of a module' grep -q ' fkt_event_exit' <(fkt_print --no-summary last)
	;;
esac

# In the shared lane as well.
expect 0 fkt_record --lanes 1 -o shared -P 'do_sys_openat2 +0(%si):string' cat /etc/hostname
check 'the file is there' grep -q 'arg1="/etc/hostname"' <(fkt_print --no-summary shared)

the_rest_takes_long

# What is wrong.
wrong() {
	expect "$1" fkt_record -o none -P "$2" true
	said "$3"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}

wrong 1 do_sys_openat3 'is do_sys_openat2 meant'
wrong 1 nonsense:do_sys_openat2 'no function do_sys_openat2 in the module nonsense'
wrong 1 do_sys_openat2+1 'no instruction begins there'
wrong 1 do_sys_openat2+0x10000 'has only 0x[0-9a-f]* bytes'
wrong 2 do_sys_openat2-1 'write \+NUMBER'
wrong 2 r:do_sys_openat2+4 'leave out the offset'
wrong 1 0x1234 'no code'
wrong 1 exc_int3 'must not be probed'
wrong 1 r:exc_page_fault 'must not be probed'
wrong 1 fkt_open 'FKT does not trace itself'
wrong 1 "0x$(awk '$3 == "fkt_open" { print $1 }' /proc/kallsyms)" 'FKT does not trace itself'
for place in fkt_gate_called fkt_gate_called_copying+8 fkt_gate_shared; do
	refuse "nobody takes a probe to $place" sh -c "echo 'p $place' >>/sys/kernel/tracing/kprobe_events" 2>>.err
done
wrong 1 irq_work_queue 'FKT itself calls it for each page that is full'

# What is wrong with the words themselves is the same on all kernels: one of them is enough.
syntax() {
	case $(uname -r) in
	6.1.*)	wrong 2 "$@" ;;
	esac
}
syntax '' 'which function'
syntax p: 'which function'
syntax 'r5000:x vfs_read' 'at most 4096'
syntax 'p5:x vfs_read' 'belongs behind r'
syntax '-:x' 'nothing is there to be deleted'
syntax 'vfs_read $retval' 'begin with r:'
syntax "do_sys_openat2+$behind \$arg1" 'when a function is entered'
syntax 'vfs_read %rdi' 'no such register'
syntax 'vfs_read $arg9' 'vfs_read has 4 arguments'
syntax 'vfs_read $nonsense' '\$argN'
syntax 'vfs_read ?file' 'an argument is'
syntax 'vfs_read +0(%di' 'write \+OFFSET'
syntax 'vfs_read +x(%di)' 'not an offset'
syntax 'vfs_read @no_such_symbol' 'no such symbol'
syntax 'vfs_read %di:float' 'the types are'
syntax 'vfs_read a-b=%di' 'not a name'
syntax "vfs_read $(printf '%%di %.0s' {1..15})" 'room for 14'
syntax "vfs_read \$comm $(printf '%%di %.0s' {1..13})" 'room for 14'

check 'the kernel is content' is_content
