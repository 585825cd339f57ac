# SPDX-License-Identifier: GPL-2.0-only
# limit: 800 s
#
# -U: functions of programs. Counts are the program's own; entries and exits are pairs; results, strings, threads, recursion,
# longjmp over a return, signal handlers, forks; probes of sys/sdt.h; calls nest with the system calls that they make; ftrace's
# uprobe events beside it count the same; starts and stops while programs are inside; what is wrong is said.

. "$TOP/tests/vm/lib.sh"

program=$TOP/build/tests/vm/user_calls
rounds=50

# lines NAME: its entries, exits and points in the listing, "CPU PID CODE NAME ARGUMENTS".
lines() {
	awk -v name="user_calls:$1" '$4 == name' listed
}

# entries NAME, exits NAME: the exit has its result behind it.
entries() {
	lines "$1" | grep -vc ' ret='
}
exits() {
	lines "$1" | grep -c ' ret='
}

# --- counts, results, pairs

expect 0 fkt_record -p 12 -o trace -U "$program:user_*" user_calls $rounds
echo "$out" >own
check 'nothing is lost' [ "$(lost)" = 0 ]
said '36 calls are not in the recording: more than 64 were within each other'
events trace >listed
while read -r name count; do
	case $name in
	# Of 100 within each other the kernel catches 64.
	user_deep)	wanted=64 caught=64 ;;
	# Two of three are left by a leap.
	user_leaps)	wanted=$count caught=$((count / 3)) ;;
	*)		wanted=$count caught=$count ;;
	esac
	check "$name is entered as often as it was called" [ "$(entries "$name")" = "$wanted" ]
	check "$name returns as often" [ "$(exits "$name")" = "$caught" ]
done <own
check 'it knows all of its functions' [ "$(wc -l <own)" = 9 ]
check 'results' [ "$(lines user_factorial | sed -n 's/.* ret=//p' | tail -1)" = 0x375f00 ]
check 'results of threads, and of the child' [ "$(lines user_add | grep -c " ret=$((rounds + 1))$")" = 5 ]
check 'of the child alone' [ "$(lines user_add | grep -c " ret=$((rounds + 2))$")" = 1 ]

# As calls: each within the other, also where a leap has left some, and where a signal handler comes between.
fkt_print --graph trace | sed -n 's/.*user_calls\[[0-9]*\] *| //p' | sed 's/user_calls://g' >graph
check 'calls in calls' [ "$(grep -A3 '^user_outer() {$' graph | grep -c '^  user_inner() ret=')" = $((2 * rounds)) ]
check 'and as numbers' [ "$(fkt_print --spans --format json --code '*:user_factorial' trace | grep -c '"result":3628800[,}]')" -ge 1 ]
check 'tail calls' [ "$(grep -A1 '^user_tail() {$' graph | grep -c '^  user_inner() ret=')" = $rounds ]
check 'a handler within the call that it interrupts' \
	[ "$(grep -A1 '^user_signalled() {$' graph | grep -c '^  user_add() ret=1')" = $rounds ]
check 'recursion' grep -q '^                  user_factorial() ret=1;$' graph
check 'what was left by a leap' [ "$(grep -c 'user_leaps.*not left' graph)" = $((2 * rounds)) ]
check 'and what it was left to' [ "$(grep -c '^} ret=100 /\* user_leaps \*/$' graph)" = $rounds ]
check 'depths come to 64' grep -qE '^ {126}user_deep\(\) ret=37;' graph
same_by_all trace

# --- with the system calls that they make

expect 0 fkt_record -p 12 -o both -k system,user -U "$program:user_outer" -U "$program:user_inner" user_calls $rounds
fkt_print --graph both | sed -n 's/.*user_calls\[[0-9]*\] *| //p' >graph
perl -ne '
	if (/^user_calls:user_outer\(\) \{/) { $in = 1; $text = "" }
	elsif ($in && /^\}/) { $in = 0; $n++ if $text =~ /^(  user_calls:user_inner\(\) \{\n    sys_getppid\(\) = \d+;\n  \} ret=\d+[^\n]*\n){2}$/ }
	elsif ($in && !/=>/) { $text .= $_ }
	END { print "$n\n" }' graph >nested
check 'system calls are in the functions that make them' between $((rounds * 9 / 10)) "$(cat nested)" $rounds
refuse 'the kernel tells of returns by a call that is nobody'"'"'s' grep -qE 'sys_(uretprobe|\?)' graph
check 'nothing is said to have no entry' [ "$(grep -c 'user_.*entry not seen' graph)" = 0 ]
same_by_all both

# A part of it has what the whole has there.
fkt_print --no-summary both | grep -v '^ *Since\|^---' >whole
expect 0 fkt_extract --events=1200..1000000 -o part both
check 'a part has the rest' [ "$(fkt_print --no-summary part | grep -c user_calls:)" = "$(tail -n +1200 whole | grep -c user_calls:)" ]
fkt_print --graph part | sed -n 's/.*user_calls\[[0-9]*\] *| //p' >graph
check 'and knows what was open' [ "$(grep -c 'user_.*entry not seen' graph)" = 0 ]

# --- what they are given

expect 0 fkt_record -o args -U "$program:user_add \$arg1:s64 b=\$arg2:u8 top=+0(\$stack):x64 \$retval:s16" \
	-U "p:$program:user_text text=+0(\$arg1):string short=+0(\$arg1):u8[3] \$comm" -U "r:$program:user_factorial" user_calls 10
events args >listed
check 'arguments' [ "$(lines user_add | grep -cE ' arg1=[0-9] b=2 top=0x[0-9a-f]+$')" = 40 ]
check 'a result of 16 bits' [ "$(lines user_add | grep -cE ' arg[0-9]+=(1[01]|[2-9])$')" -ge 40 ]
check 'strings' [ "$(lines user_text | grep -c ' text="a text" short={97,32,116} arg3="user_calls"')" = 5 ]
check 'a long one' grep -qE ' text="x{40,}' <(lines user_text)
check 'a return alone' [ "$(lines 'user_factorial%return' | grep -c ' ret=')" = 10 ]

# --- probes that a program has in its source

expect 0 fkt_record -o sdt -U "$program:plain" -U "$program:user_test:guard*" user_calls 20
events sdt >listed
check 'probes in the source' [ "$(lines user_test:plain | grep -cE ' arg1=1?[0-9] arg2=[0-9]+$')" = 20 ]
check 'those behind a semaphore' [ "$(lines user_test:guarded | grep -cE ' arg1=(0|-1?[0-9])$')" = 20 ]
expect 0 fkt_record -o sdt -U "$program:user_test:plain where=+0(\$arg2):string \$arg1:x8" user_calls 2
check 'what they lead to' [ "$(fkt_print --no-summary sdt | grep -cE 'user_test:plain +where="here" arg2=0x[01]$')" = 2 ]

# --- beside ftrace's

tracing=/sys/kernel/tracing
offset() {
	local address

	address=$(nm "$program" | awk -v name="$1" '$3 == name { print $1 }')
	printf '%#x' $((0x$address - $(readelf -lW "$program" | awk '$1 == "LOAD" && / R E / { print $3 " " $2; exit }' | {
		read -r at in_file
		echo $((at - in_file))
	})))
}
echo "p:fkt_outer $program:$(offset user_outer)" >>$tracing/uprobe_events || die 'ftrace does not take the probe'
echo "r:fkt_outer_ret $program:$(offset user_outer)" >>$tracing/uprobe_events
echo 1 >$tracing/events/uprobes/enable
# Another test in this guest may have turned it off.
echo 1 >$tracing/tracing_on
echo >$tracing/trace
expect 0 fkt_record -o beside -U "$program:user_outer" user_calls 200
echo 0 >$tracing/events/uprobes/enable
events beside >listed
check 'as many as ftrace has' [ "$(entries user_outer):$(exits user_outer)" = \
	"$(grep -c 'fkt_outer:' $tracing/trace):$(grep -c 'fkt_outer_ret:' $tracing/trace)" ]
check 'all of them' [ "$(entries user_outer)" = 200 ]
echo >$tracing/uprobe_events

# --- libraries: found, globs, indirect functions, and the recorder's own calls

expect 0 fkt_record -o libc -U 'libc.so.6:str*' -U 'libc.so.6:malloc size=$arg1:u64' ls /
said '^fkt_record: -U libc.so.6: /.*/libc.so.6$'
check 'malloc' [ "$(events libc | grep -c ' ls *\|libc.so.6:malloc')" -gt 10 ]
check 'which implementation it is' grep -q ' libc.so.6:strlen ' <(events libc)
same_by_all libc

the_rest_takes_long

# An exception may pass through functions of the C library that call others back.
if command -v g++ >/dev/null; then
	g++ -O1 -o throws -x c++ - <<-'END'
		#include <cstdlib>
		#include <mutex>
		#include <search.h>
		#include <stdio.h>

		static int compare(const void *, const void *) { throw 1; }

		int main()
		{
			int numbers[] = { 2, 1 }, caught = 0;
			std::once_flag once;
			void *root = nullptr;

			try { qsort(numbers, 2, sizeof(int), compare); } catch (int) { caught++; }
			tsearch(numbers, &root, compare);
			try { tsearch(numbers + 1, &root, compare); } catch (int) { caught++; }
			try { std::call_once(once, [] { throw 1; }); } catch (int) { caught++; }
			printf("caught %d\n", caught);
		}
	END
	expect 0 fkt_record -o throws.trace -U 'libc.so.6:*qsort*' -U 'libc.so.6:*search' -U 'libc.so.6:*once*' ./throws
	check 'exceptions are caught' [ "$out" = 'caught 3' ]
	said 'the return of .*, and of others, is left out'
	check 'entries are there' grep -q ' libc.so.6:qsort' <(events throws.trace)
fi

# --- starts and stops while it is inside, and what is inside when all has ended

user_calls loop &
looping=$!
user_calls forever &
forever=$!
background+=($looping $forever)
sleep 1
start_recorder -n -o inside -U "$program:user_*"
sleep 0.2
stop_recorder
check 'of programs that ran before' [ "$(count inside 10000)" -gt 100 ]
check 'nobody is disturbed' kill -0 $looping $forever
start_recorder -n -o forever -U "$program:user_sleeps"
user_calls forever &
caught=$!
background+=($caught)
sleep 0.3
stop_recorder
check 'one is inside' [ "$(fkt_print --no-summary forever | grep -c 'user_calls:user_sleeps')" = 1 ]
expect 0 user_starts "$program" "$(offset user_outer)" 20
check "started and stopped often ($out)" [ "$out" -ge 4 ]
check 'nobody is disturbed' kill -0 $looping
wait_until 10 idle
# The module goes, and somebody is still in a function whose return it had asked for.
check 'the module can go' rmmod fkt
kill -USR2 $caught
wait $caught
check 'who was inside comes out, and dies of the signal' [ $? = $((128 + 12)) ]
check 'it comes back' insmod /run/fkt-vm/fkt.ko
kill $looping $forever
wait $looping $forever

# --- files that change

cp "$program" copied
start_recorder -n -o copied.trace -U "$PWD/copied:user_outer"
./copied 3 >/dev/null
rm copied
cp "$program" copied
check 'another file of that name runs' [ "$(./copied 4 | wc -l)" = 9 ]
stop_recorder
check 'is another file' [ "$(fkt_print --no-summary copied.trace | grep -c 'copied:user_outer *$')" = 3 ]

# --- what is wrong

wrong() {
	expect "$1" fkt_record -o none -U "$2" true
	said "$3"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}
echo text >text
mkfifo fifo
wrong 2 user_calls 'write FILE:FUNCTION'
wrong 2 :user_add 'write FILE:FUNCTION'
wrong 1 nothing_like_it:f 'no program and no library nothing_like_it'
wrong 1 ./nothing:f 'No such file'
wrong 1 ./text:f 'no program and no library'
wrong 1 ./fifo:f 'it is no file'
wrong 1 "$PWD:f" 'it is no file'
wrong 1 "$TOP/build/tests/vm/ia32:_start" 'for another machine, or for 32 bits'
strip -o stripped "$TOP/build/tests/vm/user_fields"
wrong 1 "$PWD/stripped:main" 'has no names of functions .is it stripped'
wrong 1 "$program:user_ad" 'has no function user_ad; is user_add meant'
wrong 1 "$program:nothing*" 'no function of .* matches'
wrong 1 "$program:user_add+1" 'in the middle of an instruction'
wrong 1 "$program:0x1234" 'in the middle of an instruction'
wrong 1 "$program:user_test:nothing" 'has no such probe'
wrong 1 "r:$program:_start" 'the return of _start can.t be traced'
wrong 1 "$program:user_add c" 'has no argument c'
wrong 2 "$program:plain a" 'a probe in the program.s source have no names'
wrong 2 "p:$program:user_add \$retval" 'begin with r:'
wrong 2 "$program:user_add @jiffies" 'the kernel.s symbols are not in a program'
wrong 2 "$program:user_add \$arg1:symbol" 'addresses of the kernel'
wrong 2 "$program:plain \$arg3" 'there is no'

# What can't be had is said, and the rest goes on, where there is any.
expect 0 fkt_record -o goes -U "$PWD/nothing:f" -U "$PWD/stripped:main" -U "$program:user_add+1" -U "$program:nothing" -U "$program:user_outer" \
	"$program" 4
said 'nothing: No such file'
said 'has no names of functions'
said 'in the middle of an instruction'
said 'has no function nothing'
check 'with what there is' [ "$(fkt_print --no-summary goes | grep -c 'user_calls:user_outer *$')" -gt 0 ]
expect 0 fkt_record -o goes -k system -U "$PWD/nothing:f" true
said 'nothing: No such file'
check 'with the layer' grep -q sys_ <(fkt_print --no-summary goes)
check 'root alone' not setpriv --reuid=65534 --clear-groups fkt_record -o /dev/null -U "$program:user_add" true
