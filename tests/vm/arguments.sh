# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# What is traced gets its arguments, and returns its results, as it does when nothing is traced.

. "$TOP/tests/vm/lib.sh"

# Sends itself 20 datagrams over loopback, and prints how many arrive.
cat >datagrams <<'END'
	use Socket;
	socket(my $in, PF_INET, SOCK_DGRAM, 0) or die;
	bind($in, pack_sockaddr_in(0, INADDR_LOOPBACK)) or die;
	socket(my $out, PF_INET, SOCK_DGRAM, 0) or die;
	my ($arrived, $text) = 0;
	for (1 .. 20) {
		send($out, "x", 0, getsockname $in) or die;
		$arrived++ if defined recv($in, $text, 8, MSG_DONTWAIT) && $text eq "x";
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
