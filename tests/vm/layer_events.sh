# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# Each layer sees what happens in it: a workload whose events are known in number and order.

. "$TOP/tests/vm/lib.sh"

busybox ifconfig lo 127.0.0.1 up
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
sed 's/ .*//' /sys/kernel/tracing/available_filter_functions >hookable

# calls FILE FUNCTION: how often it was called; by the process $pid, if that is set.
calls_of() {
	events "$1" | grep -cE "^[0-9]+ ${pid:-[0-9]+} [0-9a-f]{5} $2( *|  +[a-z].*)\$"
}

# called FUNCTION TIMES
called() {
	local n

	n=$(calls_of t "$1")
	echo "$1: $n calls"
	check "$1() is called $2 times" [ "$n" = "$2" ]
}

# in_order FUNCTION…: whether their entries come in this order, somewhere. Kernels of another configuration, for debugging or
# PREEMPT_RT, have inlined some of them.
in_order() {
	case $(uname -r) in
	*-debug-* | *-rt-*)
		# shellcheck disable=SC2046
		set -- $(for name; do grep -qxF "$name" hookable && echo "$name"; done) ;;
	esac
	events t >listing; perl -ne '
		BEGIN { @order = splice @ARGV; $i = 0 }
		next unless /^\d+ \d+ [0-9a-f]{5} (\S+) *(.*)/ && $2 !~ /^=/;
		$i++ if $i < @order && $1 eq $order[$i];
		END { print "not after $order[$i - 1]: $order[$i]\n" if $i < @order; $? = $i < @order }' "$@" <listing
}

cat >net.pl <<'END'
use Socket qw(:DEFAULT :addrinfo IPPROTO_TCP TCP_NODELAY inet_pton);
my ($family, $type, $count) = ($ARGV[0] == 6 ? AF_INET6 : AF_INET, $ARGV[1], $ARGV[2]);
my $addr = $family == AF_INET6 ? pack_sockaddr_in6(0, inet_pton(AF_INET6, '::1')) : pack_sockaddr_in(0, inet_aton('127.0.0.1'));
my ($in, $data);
if ($type eq 'udp') {
	socket(my $a, $family, SOCK_DGRAM, 0) or die;
	socket(my $b, $family, SOCK_DGRAM, 0) or die;
	bind($a, $addr) or die;
	my $to = getsockname($a);
	for (1 .. $count) {
		send($b, 'x' x $ARGV[3], 0, $to) or die;
		recv($a, $data, 65536, 0);
		die if length $data != $ARGV[3];
	}
} else {
	socket(my $a, $family, SOCK_STREAM, 0) or die;
	socket(my $b, $family, SOCK_STREAM, 0) or die;
	bind($a, $addr) or die;
	listen($a, 1) or die;
	connect($b, getsockname($a)) or die;
	accept(my $c, $a) or die;
	setsockopt($b, IPPROTO_TCP, TCP_NODELAY, 1);
	for (1 .. $count) {
		send($b, 'x' x $ARGV[3], 0) or die;
		recv($c, $data, 65536, 0);
		die if length $data != $ARGV[3];
	}
	close($b);
	close($c);
}
print "$$\n";
END

layers=netdrv,network,transport,socket
expect 0 fkt_record -k $layers -o t perl net.pl 4 tcp 10 100
pid=$out
called inet_bind 1
called inet_listen 1
called inet_stream_connect 1
called inet_accept 1
called tcp_v4_connect 1
called tcp_sendmsg 10
called tcp_recvmsg 10
called inet_sendmsg 10
called inet_recvmsg 10
called tcp_close 3
pid=
check 'a segment goes all the way' in_order __sys_sendto inet_sendmsg tcp_sendmsg tcp_write_xmit __tcp_transmit_skb \
	__ip_queue_xmit ip_output __dev_queue_xmit dev_hard_start_xmit netif_rx_internal __napi_poll process_backlog \
	__netif_receive_skb ip_rcv ip_local_deliver tcp_v4_rcv tcp_rcv_established tcp_data_queue inet_recvmsg tcp_recvmsg
check 'tcp_sendmsg() returns what was sent' [ "$(events t | grep -cE ' tcp_sendmsg += 100$')" = 10 ]

expect 0 fkt_record -k $layers -o t perl net.pl 6 tcp 10 100
pid=$out
called inet6_bind 1
called tcp_v6_connect 1
called tcp_sendmsg 10
called inet6_recvmsg 10
pid=
check 'IPv6: a segment goes all the way' in_order tcp_sendmsg __tcp_transmit_skb ip6_xmit ip6_output \
	dev_hard_start_xmit ipv6_rcv ip6_input tcp_v6_rcv tcp_rcv_established

expect 0 fkt_record -k $layers -o t perl net.pl 4 udp 7 100
pid=$out
called udp_sendmsg 7
called udp_recvmsg 7
called ip_send_skb 7
pid=
called udp_rcv 7
check 'a datagram goes all the way' in_order __sys_sendto inet_sendmsg udp_sendmsg ip_send_skb ip_output \
	__dev_queue_xmit dev_hard_start_xmit netif_rx_internal __napi_poll process_backlog ip_rcv ip_local_deliver udp_rcv

expect 0 fkt_record -k $layers -o t perl net.pl 6 udp 7 100
pid=$out
called udpv6_sendmsg 7
called udpv6_recvmsg 7
called ip6_send_skb 7
pid=
called udpv6_rcv 7

busybox ifconfig lo mtu 1500
expect 0 fkt_record -k network -o t perl net.pl 4 udp 3 4000
called ip_do_fragment 3
called ip_defrag 9
busybox ifconfig lo mtu 65536

# A file on ext4. oflag=dsync: a call, not an inlined one as fsync()'s on newer kernels.
expect 0 fkt_record -k files,block -o t sh -c 'dd if=/dev/zero of=f bs=100k count=1 oflag=dsync; echo $$; sleep 0.1' 
said '.'
pid=$(events t | perl -ne 'print "$1\n" if /^\d+ (\d+) 1104 exec .*\bdd\b/')
check 'dd was executed' [ -n "$pid" ]
n=$(events t | grep -cE "^[0-9]+ $pid [0-9a-f]{5} vfs_write += 102400\$")
check "25 pages are written at once ($n)" [ "$n" = 1 ]
called vfs_fsync_range 1
called file_write_and_wait_range 1
check 'the data reaches the disk' in_order vfs_write generic_perform_write vfs_fsync_range file_write_and_wait_range \
	do_writepages submit_bio_noacct_nocheck blk_mq_submit_bio blk_mq_start_request
pid=
check 'and the disk answers' in_order blk_mq_start_request blk_mq_end_request
n=$(events t | grep -c ' hrtimer_nanosleep\b')
check "sleep sleeps ($n)" [ "$n" = 2 ]

echo 1 >/proc/sys/vm/drop_caches
expect 0 fkt_record -k files,block -o t dd if=f of=/dev/null bs=4k
check 'a miss in the page cache' in_order vfs_read filemap_get_pages filemap_add_folio blk_mq_submit_bio
misses=$(events t | grep -c ' filemap_add_folio$')
expect 0 fkt_record -k files,block -o t dd if=f of=/dev/null bs=4k
check 'fewer misses the second time' [ "$(events t | grep -c ' filemap_add_folio$')" -lt "$misses" ]

the_rest_takes_long

# A SCSI disk. The layer's functions are in a module.
if modprobe sd_mod && modprobe scsi_debug dev_size_mb=16 2>/dev/null; then
	wait_until 20 eval 'ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/* >/dev/null 2>&1'
	disk=/dev/$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/sd*)
	[ -e "$disk" ] || mknod "$disk" b $(tr : ' ' <"/sys/block/${disk#/dev/}/dev")
	sleep 1
	expect 0 fkt_record -k block -o t dd if=/dev/zero of="$disk" bs=64k count=12 oflag=direct
	refuse 'nothing is missing' grep -q 'does not have.*scsi' .err
	n=$(calls_of t scsi_queue_rq)
	check "each request is dispatched ($n)" [ "$n" -ge 12 ]
	check "and done" [ "$(calls_of t scsi_done)" = "$n" ]
	check 'in this order' in_order blk_mq_submit_bio scsi_queue_rq blk_mq_start_request scsi_done scsi_finish_command scsi_io_completion \
		blk_update_request
	rmmod scsi_debug
else
	fail 'no scsi_debug in this kernel'
fi

# Layers can be turned on later.
start_recorder -n -k system -o t
fkt_setmask socket
perl net.pl 4 udp 20 10 >pid
fkt_setmask system
perl net.pl 4 udp 30 10 >/dev/null
stop_recorder
pid=$(cat pid)
called udp_sendmsg 0
called inet_sendmsg 20
pid=
check 'off again' [ "$(calls_of t inet_sendmsg)" = 20 ]

expect 0 fkt_record --list-layers
check 'they can be listed' grep -q 'tcp_sendmsg' .out
