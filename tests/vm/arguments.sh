# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# What is traced gets its arguments, and returns its results, as it does when nothing is traced.

. "$TOP/tests/vm/lib.sh"

# Sends itself 20 datagrams over loopback, and prints how many arrive before one does not. A softirq that is already
# under way takes them there, maybe later.
cat >datagrams <<'END'
	use Socket;
	socket(my $in, PF_INET, SOCK_DGRAM, 0) or die;
	bind($in, pack_sockaddr_in(0, INADDR_LOOPBACK)) or die;
	setsockopt($in, SOL_SOCKET, SO_RCVTIMEO, pack("l!l!", 5, 0)) or die;
	socket(my $out, PF_INET, SOCK_DGRAM, 0) or die;
	my ($arrived, $text) = 0;
	for (1 .. 20) {
		send($out, "x", 0, getsockname $in) or die;
		last unless defined recv($in, $text, 8, 0) && $text eq "x";
		$arrived++;
	}
	print "$arrived\n";
END
ip link set lo up

# Functions of one name, of 6 and of 8 arguments.
check 'datagrams arrive' [ "$(perl datagrams)" = 20 ]
if fkt_record -v --list-functions compute_score 2>/dev/null; then
	expect 0 fkt_record --args -F compute_score -o t perl datagrams
	check 'datagrams arrive while compute_score() is traced' [ "$out" = 20 ]
	check 'datagrams arrive afterwards' [ "$(perl datagrams)" = 20 ]
fi

# A module with functions of all kinds. It gets BTF as the kernel's own modules do when they are built.
args=$TOP/build/tests/vm/fkt_args/$(uname -r)/fkt_args.ko
run=/sys/module/fkt_args/parameters/run
insmod "$args" || die 'fkt_args.ko cannot be loaded'
expect 0 fkt_record -v --list-functions 'fkt_args:args_?'
check 'without BTF no exit is caught' not grep -v '  entry .*; its module has no BTF' .out
cat $run >untraced
expect 0 fkt_record --args -F 'fkt_args:*' -o t cat $run
check 'entries alone change nothing' cmp .out untraced
check 'they are there' [ "$(events t | grep -c ' args_[0-9]* ')" -ge 16 ]
check 'without exits' not grep -q ' = ' <(events t | grep ' args_')
rmmod fkt_args
cp "$args" fkt_args.ko
# pahole calls llvm-objcopy unless told otherwise.
LLVM_OBJCOPY=objcopy pahole -J --btf_base /sys/kernel/btf/vmlinux fkt_args.ko || die 'pahole gives the module no BTF'
insmod ./fkt_args.ko || die 'fkt_args.ko cannot be loaded with BTF'
cat untraced

# listed NAME: how a function is traced, without its arguments.
listed() {
	sed -nE "s/^args_$1 +(\w+) .*\) ?([a-z0-9]*) *\[fkt_args\](.*)/\1 \2\3/p" list
}
fkt_record -v --list-functions 'fkt_args:*' >list
check 'six arguments' [ "$(listed 6)" = 'pair ret' ]
check 'seven' [ "$(listed 7)" = 'copy ret; copies 1 words of arguments on the stack' ]
check 'fourteen' [ "$(listed 14)" = 'copy ret; copies 8 words of arguments on the stack' ]
check 'fifteen' [ "$(listed 15)" = 'entry ; it has too many arguments on the stack' ]
check 'a varying number' [ "$(listed variadic)" = 'entry ; it takes a varying number of arguments' ]
check 'two of one name' [ "$(listed same_name | sort -u)" = \
	'entry ; BTF does not have all functions of this name: they may differ in their arguments' ]
check 'structures on the stack' [ "$(listed behind24)" = 'copy ret; copies 4 words of arguments on the stack' ]
check 'a structure that may be anywhere' [ "$(listed aligned32)" = \
	'entry ; it has a structure on the stack that may have to stand at a multiple of 32 bytes' ]
check 'a result in memory' [ "$(listed ret_memory)" = 'copy ret; copies 1 words of arguments on the stack' ]
check 'a small result' [ "$(listed ret_s16)" = 'pair rets16' ]
check 'no result' [ "$(listed ret_void)" = 'pair void' ]

# The values are those that it passes.
expect 0 fkt_record --args -F 'fkt_args:*' -p 11 -o t cat $run
check 'functions get and return what they do untraced' cmp .out untraced
events t | cut -d' ' -f4- >listing
for n in {1..12}; do
	values=
	i=0
	for name in a b c d e f; do
		[ $((++i)) -gt "$n" ] || values+=" $name=$((100 * n + i))"
	done
	check "$n arguments" grep -qE "^args_$n +${values# }$" listing
done
check 'small ones' grep -qE '^args_small +a=200 b=-2 c=60000 d=-4 e=4000000000 f=-6$' listing
check 'results' grep -qE '^args_ret_s16 += -30836$' listing
check 'small results' grep -qE '^args_ret_u8 += 137$' listing
check 'as many exits as entries' [ "$(grep -cE '^args_[67] +=' listing)" = "$(grep -cE '^args_[67] +a=' listing)" ]

# Some called by others, by calls and by jumps, and the other way round.
for functions in '*' 'fkt_args:* !fkt_args:args_?' 'fkt_args:args_? fkt_args:args_recurse fkt_args:args_thread'; do
	globs=()
	read -ra words <<<"$functions"
	for word in "${words[@]}"; do
		globs+=(-F "$word")
	done
	expect 0 fkt_record "${globs[@]}" -p 12 -o t cat $run
	check "the same under $functions" cmp .out untraced
done
# Where the stack ends, some exits are not caught, and that is said.
said '^fkt_record: [0-9]+ events of functions were lost where little was left of the stack'
check 'not for want of room' not grep -q 'the buffer was full' .err
check 'the same afterwards' cmp $run untraced
check 'it can be unloaded' rmmod fkt_args

# Others hold a function in such a way that nobody else can have it.
expect 0 hold vfs_read fkt_record -F 'vfs_*' -o t cat /etc/hostname
said '^fkt_record: 1 function left out: held by a BPF program or a live patch \(fkt_record -v names it\)$'
check 'the others are traced' grep -q ' vfs_open' <(events t)
check 'but not the one' not grep -q ' vfs_read ' <(events t)
expect 0 hold vfs_read fkt_record -v -F 'vfs_*' -o t true
said 'live patch: vfs_read$'
expect 1 hold vfs_read fkt_record -F vfs_read -F vfs_write -o t true
one_sentence
said '^fkt_record: -F vfs_read: a BPF program or a live patch holds this function'
expect 0 hold vfs_read fkt_record -v --list-functions vfs_read
check 'it is listed as such' grep -q '; a BPF program or a live patch holds it$' .out
expect 0 hold vfs_read fkt_record -k system -o t true
refuse 'which says nothing of it' grep -q 'left out' .err
expect 0 fkt_record -F vfs_read -o t cat /etc/hostname
check 'it is free again' grep -q ' vfs_read' <(events t)

# Tracing is off as a whole: nothing would be hooked.
sysctl -qw kernel.ftrace_enabled=0
expect 1 fkt_record -F vfs_read -o t true
one_sentence
said "all tracing of functions is turned off; turn it on with 'sysctl kernel.ftrace_enabled=1'"
expect 1 fkt_record -k files -o t true
expect 0 fkt_record -k system -o t true
sysctl -qw kernel.ftrace_enabled=1
expect 0 fkt_record -F vfs_read -o t true
