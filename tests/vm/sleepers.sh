# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Tasks that sleep in traced functions when the recording ends do not keep the module, and come back as if nothing had been:
# the module is removed under them, and their system calls return what they have to.

. "$TOP/tests/vm/lib.sh"

# record_asleep GLOB…: record while the program's threads fall asleep; leaves it asleep, its stdin at fd 8.
record_asleep() {
	local globs=() glob

	for glob in "$@"; do
		globs+=(-F "$glob")
	done
	rm -f to from
	mkfifo to
	start_recorder -n "${globs[@]}" -p 12 -o t
	sleepers <to >from &
	sleeper=$!
	background+=("$sleeper")
	exec 8>to
	check "$*: they fall asleep" wait_until 100 grep -q asleep from
	stop_recorder
	check "$*: the recording ends well" [ "$status" = 0 ]
}

# wake_up WHAT
wake_up() {
	echo >&8
	exec 8>&-
	check "$1: they wake up" wait_until 60 not kill -0 $sleeper 2>/dev/null
	check "$1: with what they waited for" \
		[ "$(sed 1d from | tr '\n' ' ')" = 'pipe ok poll ok select ok futex ok wait ok ' ]
}

# Since 6.15 pipe_read() is called anon_pipe_read().
functions=('*pipe_read' do_sys_poll do_select do_futex do_wait schedule '*_sys_read' '*_sys_futex'
	'*_sys_wait4' vfs_read)

record_asleep "${functions[@]}"
# All of them entered what they did not leave, do_futex() with its copied argument.
open=$(events t | awk '$3 ~ /^[0-9a-f]+$/ && $4 ~ /^((anon_)?pipe_read|do_select|do_sys_poll|do_futex|do_wait)$/ { n[$2 " " $4] += $5 == "=" ? -1 : 1 }
	END { for (i in n) if (n[i] > 0) { split(i, word, " "); print word[2] } }' | sed 's/^anon_//' | sort -u | tr '\n' ' ')
check 'they sleep in traced functions' [ "$open" = 'do_futex do_select do_sys_poll do_wait pipe_read ' ]
begin=$SECONDS
check 'nothing keeps the module' wait_until 60 idle
check 'it can be removed under them' rmmod fkt
echo "after $((SECONDS - begin)) s"
head -20 /proc/$sleeper/task/*/stack
check 'their stacks can still be unwound' [ "$(grep -l do_syscall_64 /proc/$sleeper/task/*/stack | wc -l)" = 6 ]
wake_up 'without the module'

# Again and again: who is inside the functions of the first recording returns from them in the second one.
insmod /run/fkt-vm/fkt.ko
record_asleep "${functions[@]}"
set -f
# shellcheck disable=SC2046
start_recorder -n $(printf -- '-F %s ' "${functions[@]}") -p 12 -o t.second
set +f
echo >&8
check 'they wake up in the next recording' wait_until 60 not kill -0 $sleeper 2>/dev/null
exec 8>&-
check 'with what they waited for' [ "$(grep -c ' ok$' from)" = 5 ]
stop_recorder
check 'nothing was lost' [ "$(lost recorder.err)" = 0 ]
events t.second | awk '$3 ~ /^[0-9a-f]+$/ && $4 ~ /^((anon_)?pipe_read|do_select|do_sys_poll|do_futex|do_wait)$/ {
	if ($5 != "=") n[$2 " " $4]++
	else if (n[$2 " " $4]-- <= 0) print }' >strangers
check 'whose functions are not taken for its own' [ ! -s strangers ]
head -5 strangers
check 'nothing keeps the module' wait_until 60 idle
check 'and it can be removed' rmmod fkt
insmod /run/fkt-vm/fkt.ko
