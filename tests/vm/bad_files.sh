# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# Files that are no trace, not whole, or from the future, given to fkt_print: one clear sentence and status 1, and all that
# can be read of those that can be.

. "$TOP/tests/vm/lib.sh"

expect 0 fkt_record -o t calls 10000
recorded=$(recorded)
pages=$(perl -ne 'print $1 if /, (\d+) pages/' .err)
data=$(od -An -tu8 -j40 -N8 t | tr -d ' ')
end=$((data + 4096 * pages))
check 'the pages are where the header says' [ "$(od -An -c -j"$data" -N4 t | tr -d ' ')" = FTKP ]
check 'the tail follows them' [ "$(od -An -c -j$end -N4 t | tr -d ' ')" = FKTS ]
events t >whole

# damage NAME: a copy to be damaged.
damage() {
	cp t "$1"
	echo "--- $1"
}

refuse_file() {
	expect 1 fkt_print "$1"
	one_sentence
	said "^fkt_print: $1: $2"
	check 'nothing on standard output' [ -z "$out" ]
}

refuse_file missing 'No such file'
refuse_file . ''
: >empty
refuse_file empty ''
head -c 100000 /dev/zero >zeros
refuse_file zeros 'not an FKT trace'
cp /bin/true foreign
refuse_file foreign 'not an FKT trace'
damage newer
printf '\002' | dd of=newer bs=1 seek=8 conv=notrunc status=none
refuse_file newer '.*(version|newer)'
damage other_order
printf '\001\002\003\004' | dd of=other_order bs=1 seek=12 conv=notrunc status=none
refuse_file other_order ''
head -c 20 t >short
refuse_file short ''
head -c $((data / 2)) t >half_head
expect 1 fkt_print half_head
said "half_head: its head has no proper end"

# A minor version is no reason to refuse.
damage minor
printf '\143' | dd of=minor bs=1 seek=10 conv=notrunc status=none
expect 0 fkt_print -q minor

# Cut behind its head: what whole pages there are.
for cut in $data $((data + 1)) $((data + 4095)) $((data + 4096)) $((data + 3 * 4096 + 77)) $end $((end + 100)); do
	head -c "$cut" t >cut
	expect 1 fkt_print --no-summary cut
	said 'end sections are missing: the recording was cut off; read up to its last whole page'
	tail -n +3 .out | wc -l >lines
	n=$(cat lines)
	check "cut at $cut: the events of $(((cut - data) / 4096)) pages" between $(((cut - data) / 4096 * 100)) "$n" \
		$(((cut < end ? cut - data : end - data) / 4096 * 506))
	events cut 2>/dev/null | head -n "$n" >got
	[ "$(nproc)" != 1 ] || check 'they are the first ones' cmp <(head -n "$n" whole) got
done
check 'cut behind the last page: all events' [ "$n" = "$recorded" ]

# Damaged in the middle: skipped, and said.
damage middle
head -c 4096 /dev/urandom | dd of=middle bs=1 seek=$((data + 5 * 4096)) conv=notrunc status=none
expect 1 fkt_print --no-summary middle
said '1 damaged page was skipped'
check 'the others are read' [ "$(grep -c sys_getppid .out)" -gt 10000 ]
check 'its place is marked' grep -q '^\*\*\* lane .* page.* missing \*\*\*' .out

# No size, no order, no content of a file crashes it.
perl -e 'srand 1; for (1 .. 12) {
	my ($from, $to) = ("t", "fuzz.$_");
	open my $in, "<:raw", $from; local $/; my $data = <$in>;
	substr($data, int rand 1.2 * '"$data"', 1) = chr int rand 256 for 1 .. 1 + rand 20;
	substr($data, int rand length $data, 1) = chr int rand 256 for 1 .. 1 + rand 200;
	open my $out, ">:raw", $to; print $out $data;
}'
crashes=0
for file in fuzz.*; do
	timeout 20 fkt_print "$file" >.out 2>.err
	status=$?
	[ $status -le 1 ] || { crashes=$((crashes + 1)); echo "$file: status $status"; }
done
check 'damaged files do not crash it' [ $crashes = 0 ]
