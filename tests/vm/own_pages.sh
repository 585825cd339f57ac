# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# The layer fkt: what becomes of the recording's own pages, as in the paper's figure 10.

. "$TOP/tests/vm/lib.sh"

# pages FILE LOST: the events of the layer, "NAME LANE NUMBER FREE OF"; checks those that say how many there are. They are
# events like all others: where a buffer is full, those of pages are among what was LOST.
pages() {
	events "$1" | perl -ne '
		print "$1 $2 $3 $4 $5\n" if / fkt_(submit|release|extra) +lane=(\d+) pages?=(-?\d+) free=(\d+) of=(\d+)/' >pages
	LOST=$2 perl -ane '
		my ($what, $lane, $n, $free, $of) = @F;
		if ($what eq "submit") {
			$bad++, print "lane $lane: page $n is submitted after $last{$lane}\n" if $n <= $last{$lane};
			$missing += $n - $last{$lane} - 1;
			$last{$lane} = $n;
			$submitted{$lane, $n} = 1;
		} elsif ($what eq "release") {
			$unsubmitted++ unless $submitted{$lane, $n};
			$bad++, print "lane $lane: page $n is released twice\n" if $seen{$lane, $n}++;
		} else {
			$unsaid++, print "lane $lane: $n extra pages make $of of $of{$lane}\n"
				if $of{$lane} && $of != $of{$lane} + $n;
		}
		$of{$lane} = $of unless $what eq "release";
		$bad++, print "lane $lane: $free of $of pages are free\n" if $free > $of;
		$count{$what}++;
		END {
			print "$_: $count{$_}\n" for sort keys %count;
			$missing = $unsubmitted if $unsubmitted > $missing;
			$missing += $unsaid;
			$bad++, print "$missing events are missing, $ENV{LOST} were lost\n" if $missing > $ENV{LOST};
			exit($bad || !$count{submit} || !$count{release});
		}' pages
}

# How many events the recorder says were lost.
lost() {
	perl -ne 'print $1 if / (\d+) lost/' .err
}

expect 0 fkt_record -k system,fkt -p 4 -o t calls -c 0 40000
written=$(perl -ne 'print $1 if /, (\d+) pages/' .err)
check 'pages are submitted in their order, and released once' pages t "$(lost)"
submitted=$(grep -c submit pages)
# Not those that go out when all probes are off already, nor the index.
check "nearly all pages are told of ($submitted of $written)" between $((written - written / 100 - 40)) "$submitted" "$written"
check 'with direct I/O nothing is forced' [ "$(events t | grep -c 'fkt_sync .*forced=1')" = 0 ]

# A file system without direct I/O, and a buffer that is too small.
echo '--- page cache'
mkdir ram
mount -t ramfs ramfs ram
expect 0 fkt_record -k system,fkt -p 2 -o ram/t calls -c 0 80000
check 'the same through the page cache' pages ram/t "$(lost)"
if [ "$FKT_SLOW" = 1 ]; then
	check 'pages are added' grep -qE '^extra [0-9]+ [1-9]' pages
else
	echo 'not looked at: whether pages are added; on a kernel where calls are so slow the flush thread keeps up'
fi
events ram/t | grep -E ' 121[34] ' >syncs
sed -n 1,4p syncs
check 'synchronizations are forced' grep -q 'fkt_sync .*forced=1 bytes=[1-9]' syncs
check 'and done' grep -q 'fkt_sync_exit .*= 0' syncs
perl -ne '$n += $1 if /bytes=(\d+)/; END { print "$n bytes\n"; exit !($n && $n <= -s "ram/t" && $n % 4096 == 0) }' syncs
check 'of whole pages, and no more than there are' [ $? = 0 ]
umount ram

expect 0 fkt_record -o t calls -c 0 1000
check 'nothing without the layer' [ "$(events t | grep -cE ' 121[0-4] fkt_')" = 0 ]
