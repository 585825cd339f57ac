# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 500 s
#
# The stacks of programs: those that ftrace has of the same events, with the names of who has called. ustack.c makes the calls.

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing

# listed NUMBER FILE: the stack of the program's read() of so many bytes, a frame a line.
listed() {
	fkt_print --no-summary --stack --format json --code sys_read "$2" | NUMBER=$1 perl -ne '
		next unless /"count":$ENV{NUMBER}\b.*"stack":\[(.*)\]\}$/;
		print map { /^"(.*)"$/; "$1\n" } split /,/, $1'
}

# named NUMBER FILE: the names alone, in one line.
named() {
	listed "$@" | sed 's/+0x[0-9a-f]*//' | tr '\n' ' '
}

# unname FILE: without the sections that say where files are, all frames are numbers.
unname() {
	perl -0777 -pe 's/FKTS\x0a\0\0\0/FKTS\x63\0\0\0/g' "$1"
}

echo '--- who has called, by name'
echo nop >$tracing/current_tracer
echo 16384 >$tracing/buffer_size_kb
echo >$tracing/trace
echo 1 >$tracing/options/userstacktrace
echo 1 >$tracing/events/syscalls/sys_enter_read/enable
expect 0 fkt_record -o t -k system --args --user-stack sys_read -- ustack 5 x y
echo 0 >$tracing/events/syscalls/sys_enter_read/enable
echo 0 >$tracing/options/userstacktrace
cp $tracing/trace ftrace
# The C library has no frame pointers, but who calls main() has the one that it was called with.
chain='c (ustack) b (ustack) a (ustack) main (ustack) __libc_start_call_main (libc.so.6) '
for i in 1000 1001 1002 1003 1004; do
	check "$i: $(named $i t)" [ "$(named $i t)" = "$chain" ]
done

echo '--- what leads nowhere ends there'
for i in 2001 2002 2003 2004 2007; do
	check "$i: $(named $i t)" [ "$(named $i t)" = 'c (ustack) ' ]
done
for i in 2005 2006; do
	check "$i, to itself and down: $(named $i t)" [ "$(named $i t)" = 'c (ustack) main (ustack) ' ]
done
check "2008: $(named 2008 t)" [ "$(named 2008 t)" = 'c (ustack) (stack not in memory) ' ]
check '2009: more than there is room for: so many, and that there are more' \
	[ "$(listed 2009 t | wc -l) $(listed 2009 t | tail -n 1)" = '113 ...' ]
check '2009: each of them by its name' [ "$(named 2009 t | tr ' ' '\n' | grep -c '^deep')" = 109 ]

echo '--- on the way of a fault'
# What the fault of a stack that is not there calls has its stack, and so takes a fault; where that one has, the others have none.
on_the_way=(bad_area_nosemaphore fixup_exception search_exception_tables search_module_extables search_bpf_extables)
options=()
for name in "${on_the_way[@]}"; do
	# Some kernels have inlined some of them.
	grep -qE "^$name( |$)" /sys/kernel/tracing/available_filter_functions && options+=(-F "$name" --user-stack "$name")
done
check 'some can be traced' [ ${#options[@]} -ge 12 ]
expect 0 fkt_record -o way -k system --args "${options[@]}" --user-stack sys_read -- ustack 5 x y
faults=$(fkt_print --no-summary --process ustack way | perl -ne '
	$n++ if / bad_area_nosemaphore(?! +=)/;
	if (/ sys_read /) { print $n + 0 if /count=2008/; $n = 0 }')
check "$faults faults: that of the stack, and one of all those on its way" [ "$faults" = 2 ]

echo '--- the same addresses as ftrace'
# addresses: of each read(), by its number of bytes, up to as many frames as ftrace has.
perl -ne '
	if (/sys_read\(.*count: (?:0x)?([0-9a-f]+)\)/) { $n = hex $1; }
	elsif (/user stack trace/) { $on = $n >= 1000 && $n < 2999 && /^\s*ustack-/; $n = 0 if !$on; }
	elsif (/^ =>  <([0-9a-f]+)>/) { push @{$stack{$n}}, $1 if $on; }
	else { $on = 0; }
	END { print "$_ @{$stack{$_}}\n" for sort keys %stack }' ftrace |
	# Loops, and the returns into the kernel, end sooner.
	grep -v -e '^2005' -e '^2007' >ftrace_addresses
unname t >unnamed
while read -r number addresses; do
	n=$(wc -w <<<"$addresses")
	ours=$(listed "$number" unnamed | head -n "$n" | while read -r address; do printf ' %016x' "$address"; done)
	check "$number: $n frames" [ "$ours" = " $addresses" ]
done <ftrace_addresses
check 'all were compared' [ "$(wc -l <ftrace_addresses)" = 12 ]

echo '--- below the stack of the kernel'
expect 0 fkt_record -o t -k system --args --stack sys_read --user-stack sys_read -- ustack 5
check 'kernel first' grep -q '^.*entry_SYSCALL_64_after_hwframe .*c (ustack) b (ustack) a (ustack) main' <(named 1003 t)
check 'by stack' grep -q 'sys_read: 5 times' <(fkt_print --by stack t)
fkt_extract -o part --process ustack t
check 'a part has them' [ "$(named 1003 part)" = "$(named 1003 t)" ]
fkt_extract -o part --from 1us t
check 'a stretch of time has them' [ "$(named 1004 part)" = "$(named 1004 t)" ]
check 'SQL has them' grep -q ';main;a;b;c' <(fkt_query t "select folded from stacks where name = 'sys_read'")
# pages OPTION…: how many kilobytes 16000 calls take. A page more or less of each CPU is to be far less than a byte a call.
pages() {
	fkt_record -o t -k system "$@" -- ustack 16000 2>&1 | sed 's/.*(\([0-9]*\).* KB).*/\1/'
}
plain=$(pages) with=$(pages --user-stack sys_read)
check "the same stack stands once in a page: $plain KB, with stacks $with KB, 8 bytes more each" \
	[ $(((with - plain) * 1024 / 16000)) -le 9 ]

echo '--- threads that wait: where programs were, at addresses of their own'
randomize=/proc/sys/kernel/randomize_va_space
before=$(cat $randomize)
echo 2 >$randomize
expect 0 fkt_record -o t --stack wakeup --user-stack switch -- sh -c 'ustack 3 wait; ustack 3 wait'
echo "$before" >$randomize
unname t >unnamed
fkt_print --by stack --format csv -p +ustack t | grep '^switch_to.*[,"]c+.*;b+.*;a+.*;main+' >by
check "one stack of both: $(cut -c 1-60 by)" [ "$(wc -l <by)" = 1 ]
check 'all 200 times' [ "$(awk -F, '{ print ($2 >= 190) }' by)" = 1 ]
fkt_print --by stack --format csv -p +ustack unnamed | grep '^switch_to.*0x' >by
check 'without names they are two' [ "$(awk -F, '$2 >= 90' by | wc -l)" = 2 ]
expect 0 fkt_export --to offcpu -o folded t
check 'off-CPU flame graphs' grep -q '^ustack;.*main;a;b;c ' folded
check 'of fkt_print' grep -q '^ustack;.*main;a;b;c ' <(fkt_print --folded --flame-of off-cpu t)
fkt_print --no-summary --stack --format json --code switch_to t | grep -E '"process":"(kworker|ksoftirqd|rcu_|fkt_flush)' >kernel
check 'there are switches of kernel threads' [ -s kernel ]
refuse 'these have no stack of a program' grep -v '"stack":null' kernel

echo '--- 32-bit programs; one lane; a ring; a snapshot'
expect 7 fkt_record -o t -k system --user-stack 'ia32_sys_*' -- ia32
check '32 bits' grep -q '(ia32)' <(fkt_print --no-summary --stack t)
expect 0 fkt_record -o t --lanes 1 -k system --args --user-stack sys_read -- ustack 3
check 'one lane' [ "$(named 1002 t)" = "$chain" ]
expect 0 fkt_record -o t --ring 1M -k system --args --user-stack sys_read -- ustack 3
check 'a ring' [ "$(named 1002 t)" = "$chain" ]

the_rest_takes_long

echo '--- a program that has gone, and one that was there before'
cp "$TOP/build/tests/vm/ustack" other
ustack 50 ever &
before=$!
background+=($before)
start_recorder -n -o t -k system --args --user-stack 'sys_read,switch'
./other 3
sleep 0.5
stop_recorder
kill $before
check 'gone' [ "$(named 1002 t)" = "${chain//ustack/other}" ]
check 'there before' grep -q 'c+.*b+.*a+.*main+' <(fkt_print --by stack --format csv -p +ustack t)
cp "$TOP/build/bin/fkt_print" other
check 'the file is another one now: the place in it' grep -q '^(other)+0x' <(listed 1002 t)
rm other
check 'there is no file any more' grep -q '^(other)+0x' <(listed 1002 t)

echo '--- symbols in a separate file, by build id'
expect 0 objcopy -S "$TOP/build/tests/vm/ustack" other
expect 0 fkt_record -o t -k system --args --user-stack sys_read -- ./other 3
check 'without it' grep -q '^(other)+0x' <(listed 1002 t)
id=$(readelf -n other | sed -nE 's/.*Build ID: ([0-9a-f]+)$/\1/p')
mkdir -p "/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$TOP/build/tests/vm/ustack" "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
check "with it: $(named 1002 t)" [ "$(named 1002 t)" = "${chain//ustack/other}" ]
rm "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" other

echo '--- a CPU that comes'
cp "$TOP/build/tests/vm/ustack" other
echo 0 >/sys/devices/system/cpu/cpu1/online
start_recorder -n -o t -k system --args --user-stack sys_read
for state in 1 0 1; do
	echo $state >/sys/devices/system/cpu/cpu1/online
	sleep 1.5
done
taskset -c 1 ./other 3
stop_recorder
check "what begins there: $(named 1002 t)" [ "$(named 1002 t)" = "${chain//ustack/other}" ]

echo '--- where the recorder has heard too little, and asks again'
ustack 50 ever &
waiting=$!
background+=($waiting)
start_recorder -n -o t -k system --user-stack switch
sleep "$FKT_SLOW"
kill -STOP "$recorder"
python3 -c 'import mmap
with open("other") as file:
	for i in range(6000):
		mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()'
kill -CONT "$recorder"
sleep $((3 * FKT_SLOW))
stop_recorder
check 'it says so' grep -q 'times it is not known what code a program had' recorder.err
fkt_print --no-summary --stack --format json --code switch_to -p +ustack t | grep '"tid":'$waiting, >switches
kill $waiting
check 'before that, names' grep -q 'a+0x' <(head -n 5 switches)
check 'meanwhile, none: it may be another program' grep -vq 'a+0x' switches
check 'behind it, names' grep -q 'a+0x' <(tail -n 5 switches)

# Two files with one number.
subvolumes() {
	truncate -s 200M image
	mkfs.btrfs -q image
	mkdir volume
	mount -o loop image volume
	btrfs subvolume create volume/one >/dev/null
	btrfs subvolume create volume/two >/dev/null
	cp "$(command -v sleep)" volume/one/first
	cp "$TOP/build/tests/vm/ustack" volume/two/second
	check 'they have one number' [ "$(stat -c %i volume/one/first)" = "$(stat -c %i volume/two/second)" ]
	volume/one/first 60 &
	background+=($!)
	volume/two/second 100 wait &
	background+=($!)
	expect 0 fkt_record -o t -k system --user-stack switch sleep 1
	check 'each has its own names' grep -q '"second",.*"a+0x[0-9a-f]* (second)"' <(fkt_print --no-summary --stack --format json t)
	kill "${background[-1]}" "${background[-2]}"
	wait "${background[-1]}" "${background[-2]}"
	umount volume
}

echo '--- two files with one number: of subvolumes of btrfs'
if [ "$FKT_SLOW" = 1 ] || modprobe -n btrfs; then
	modprobe loop && modprobe btrfs || die 'no btrfs'
	subvolumes
else
	echo 'this kernel was built without btrfs'
fi

echo '--- between one program and the next, whose memory is there already'
expect 0 fkt_record -o t -e tlb:tlb_flush --user-stack tlb:tlb_flush -- sh -c 'ustack 50 wait & ustack 50 wait; wait'
fkt_print --no-summary --stack --format json --code tlb:tlb_flush t >flushes
# The reason 0 is a switch of tasks.
check 'there are such' grep -q '"reason":0\b' flushes
check 'none has a stack' not grep '"reason":0\b' <(grep -v '"stack":null' flushes)

echo '--- wrong'
fkt_record -o t --user-stack nonsense -- true 2>said
check 'an event that is none' grep -q -e '--user-stack nonsense: no event of that name' said
fkt_record -o t --user-stack ,, -- true 2>said
check 'none at all' grep -q -e '--user-stack: of which events' said

echo '--- with everything traced that the way to memory that is not there goes through'
expect 0 timeout 200 fkt_record -p 12 -o t -k system -F '*fault*' -F 'search_*' -F 'vfs_*' --user-stack 'functions,sys_*' --args -- ustack 3 x y
check 'it is said' grep -q 'stack not in memory' <(named 2008 t)
