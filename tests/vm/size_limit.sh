# SPDX-License-Identifier: GPL-2.0-only
# limit: 240 s
#
# The size limit ends the trace at one moment on all CPUs, as nearly as pages allow: also where some fill pages fast and
# others hardly one. What came later and found no room is counted to the event, and the listing says so.

. "$TOP/tests/vm/lib.sh"

cpus=$(nproc)

# Each CPU has work: the first one hardly any, each other one more than the one before.
load() {
	local cpu

	for cpu in $(seq 0 $((cpus - 1))); do
		if [ "$cpu" = 0 ]; then
			taskset -c 0 sh -c 'while :; do sleep 0.05; done' &
		else
			taskset -c "$cpu" perl -e '
				while (1) { getppid for 1 .. 40 * $ARGV[0]; select undef, undef, undef, 0.005 }' "$cpu" &
		fi
		loads+=($!)
	done
	background+=("${loads[@]}")
	wait_until 20 sh -c '[ $(ps --no-headers -C perl | wc -l) -ge '$((cpus - 1))' ]'
	sleep 1
	kill -STOP "${loads[@]}"
}

# ended PAGES ARGUMENT…: record into the file t under load, -s $size, and look at how it ends on each CPU.
ended() {
	local pages=$1

	shift
	echo "--- $*"
	rm -f t
	kill -CONT "${loads[@]}"
	expect 0 timeout 30 fkt_record "$@" -n -o t
	kill -STOP "${loads[@]}"
	said 't: the size limit was reached'
	look "$pages"
}

look() {
	check 'no more pages than the limit allows' between $(($1 * 3 / 4)) \
		"$(perl -ne 'print $1 if /, (\d+) pages/' .err)" "$1"
	fkt_print --no-summary --time=rel t >listing
	fkt_print -q t | grep -E '^(Events|Lost)' >totals
	discarded=$(perl -ne '$n = $1 if /(\d+) events more were/; END { print $n + 0 }' .err)
	check 'the listing says what was discarded' \
		[ "$(perl -ne '$n += $1 if /^\*\*\* .*: (\d+) events? discarded/; END { print $n + 0 }' listing)" = "$discarded" ]
	check 'and the summary' \
		[ "$(perl -ne '$n = $1 if /^Lost .* (\d+) that could not/; END { print $n + 0 }' totals)" = "$discarded" ]
	check 'what was written is what was counted' \
		[ "$(perl -ne 'print $1 if / (\d+) events, \d+ pages/' .err)" = "$(grep -cE '^ *[0-9]+\.[0-9]+ ' listing)" ]
	# A CPU of which nothing was discarded is whole up to the end; one of which something was, up to its last event.
	# The trace is whole up to the earliest of these.
	perl -e '
		my ($cpus, $bound) = @ARGV;
		my (%last, %after, $end, $whole);
		open my $in, "<", "listing";
		while (<$in>) {
			($last{$2}, $end) = ($1, $1), $n{$2}++ if /^ *(\d+\.\d+) +(\d+) /;
			$after{$1} = $2 if /^\*\*\* lane \d+ \(CPU (\d+)\): \d+ events? discarded after (\S+) s, because the size limit was reached \*\*\*$/;
		}
		$whole = $end;
		for (sort keys %after) { $whole = $after{$_} if $after{$_} < $whole }
		printf "CPU %d: %d events, the last one %.6f s%s\n", $_, $n{$_}, $last{$_},
			defined $after{$_} ? ", discarded after $after{$_} s" : "" for 0 .. $cpus - 1;
		printf "whole up to %.6f s of %.6f s\n", $whole, $end;
		print("a CPU has no event\n"), exit 1 if keys %last != $cpus;
		exit $end - $whole > $bound' "$cpus" "$bound"
	check 'all CPUs end at one moment' [ $? = 0 ]
}

loads=()
load
# Of a guest whose CPUs are emulated by turns, none hears of the end for some ticks.
bound=0.15
ended 16 -s 64K
ended 48 -s 192K -p 4
ended 20 -s 80K --on-full pause -p 3

echo '--- a pipe'
kill -CONT "${loads[@]}"
fkt_record -s 128K -n -o - 2>.err | cat >t
check 'it ends well' [ "${PIPESTATUS[0]}" = 0 ]
kill -STOP "${loads[@]}"
cat .err
look 32

# All CPUs in one lane: what was written is what came first, and nothing else.
echo '--- one lane'
kill -CONT "${loads[@]}"
expect 0 timeout 30 fkt_record -s 64K --lanes 1 -n -o t1
kill -STOP "${loads[@]}"
discarded=$(perl -ne '$n = $1 if /(\d+) events more were/; END { print $n + 0 }' .err)
check 'the listing says what was discarded, at its end' \
	[ "$(fkt_print --no-summary t1 | tail -1 | perl -ne '$n = $1 if /^\*\*\* lane 0: (\d+) events? discarded/; END { print $n + 0 }')" = "$discarded" ]

# A part of the trace has what is at its end as well.
expect 0 fkt_extract --from 0.01 -o part t
check 'a part that has the end says what was discarded' \
	cmp <(fkt_print --no-summary part | grep -o '^\*\*\* .* discarded') <(grep -o '^\*\*\* .* discarded' listing)
same_by_all t
