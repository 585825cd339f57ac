# SPDX-License-Identifier: GPL-2.0-only
#
# perl slow_reader.pl SECONDS: copy a trace from stdin to stdout, and sleep once for SECONDS where its pages begin.

use strict;
use warnings;

my ($seconds) = @ARGV;
my ($data, $total, $slept) = ('', 0, 0);

while (sysread STDIN, my $buf, 4096) {
	print $buf;
	$data .= $buf if length $data < 48;
	$total += length $buf;
	# struct fkt_file_header: data_offset is at 40.
	next if $slept || length $data < 48 || $total < unpack 'x40 Q<', $data;
	sleep $seconds;
	$slept = 1;
}
