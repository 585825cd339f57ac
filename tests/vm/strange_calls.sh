# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# System calls whose number is gone when they return, and such whose number no table has.

. "$TOP/tests/vm/lib.sh"

# count PATTERN: how many of the program's events have it, of "PID CODE NAME ARGUMENTS".
count() {
	grep -cE -- "^$pid $1" ours
}

# made TIMES WHAT CODE ARGUMENTS [RESULT]: such calls were made so often, and have returned.
made() {
	check "$1 $2" [ "$(count "$3 +$4\$")" = "$1" ]
}

# Where returns of functions are caught, the kernel makes a call of its own for each, which has no number either.
for how in '' '--lanes 1' '--args' "-k system -U $TOP/build/tests/vm/strange_calls:call"; do
	# shellcheck disable=SC2086
	expect 0 fkt_record -o t $how strange_calls
	read -r signals pid <.out
	check 'all signals came' [ "$signals" = 40 ]
	fkt_print --no-summary --time=cycles t | perl -ne '
		print "$1 $2\n" if /^ *-?\d+ +\d+ +(\d+) .{16} ([0-9a-f]{4,5}  .*)$/' >ours
	made 41 'calls of rt_sigreturn' 000f 'sys_rt_sigreturn'
	made 41 'returns of it' 040f 'sys_rt_sigreturn += .*'
	made 3 'calls of number 9999' 03ff 'sys_[?] +number=9999'
	made 3 'calls of number 1023' 03ff 'sys_[?] +number=1023'
	made 5 'calls of number -1' 03ff 'sys_[?] +number=-1'
	made 2 'calls with a number of x32' 03ff 'sys_[?] +number=0x4000006e'
	made 13 'returns of them' 07ff 'sys_[?] += .*'
	made 1 'call of number 520' 0208 'sys_520.*'
	made 1 'return of it' 0608 'sys_520 += -38 ENOSYS'
	made 4 'calls of getppid' 006e 'sys_getppid'
	made 4 'returns of it' 046e 'sys_getppid += [0-9]+'
	run fkt_print --summary t
	check 'the summary has as many exits' grep -qE '^000f +sys_rt_sigreturn +41 +41$' .out
	grep -E 'sys_[?]|sigreturn' .out
done

# Forty threads at a time return from a signal, where more have failed to than there is room for.
for how in '' '--args'; do
	# shellcheck disable=SC2086
	expect 0 fkt_record -o t $how stalled_returns
	fkt_print --no-summary --process stalled_returns t >ours
	check 'all return from a signal, and 600 fail to' [ "$(grep -c 'sys_rt_sigreturn' ours)" = 1280 ]
	refuse 'none returns from a call that is not known' grep -m 3 'sys_[?]' ours
done

the_rest_takes_long

# A thread returns from a signal while others, of the same place by the kernel's hash_ptr(), fail to: nobody takes its own away.
mkfifo numbers
exec 3<>numbers
start_recorder -n -o made -P 'wake_up_new_task task=%di:x64'
raced_returns 20000 <numbers 3>&- >said &
racing=$!
background+=("$racing")
wait_until 60 grep -q made said || die 'the threads are not there'
stop_recorder
list_events made | awk -v pid="$racing" '$2 == pid && /wake_up_new_task/ { print $NF }' | perl -ne '
	/task=(0x[0-9a-f]+)$/ or die;
	no warnings "portable";
	my $task = hex $1;
	my $hash = do { use integer; $task * 0x61C8864680B583EB };
	push @{ $of{$hash >> 59} }, $n++;
	END { print "@{ (sort { @$b <=> @$a } values %of)[0] } .\n" }' >same
check 'more threads have the same place than it has room for' [ "$(wc -w <same)" -gt 12 ]
start_recorder -n -o t -k system
cat same >&3
wait "$racing"
check 'all of them end well' [ $? = 0 ]
stop_recorder
check 'fkt_record ends well' [ "$status" = 0 ]
fkt_print --no-summary --process raced_returns t >ours
check 'all return from a signal, or fail to' [ "$(grep -c 'sys_rt_sigreturn' ours)" = 80000 ]
refuse 'none returns from a call that is not known' grep -m 3 'sys_[?]' ours
