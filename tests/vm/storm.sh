# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# A storm: every CPU in a getppid() loop, the default buffer, a disk. No event is lost, and the trace has every call, in
# and out; at most 9 bytes for each of its events, page headers and index included.

. "$TOP/tests/vm/lib.sh"

calls=200000
cpus=$(nproc)
[ "$cpus" -le 2 ] || cpus=2

expect 0 fkt_record -o trace calls -t "$cpus" $calls
check 'the loop made its calls' [ "$out" = $((cpus * calls)) ]
check 'nothing was lost' [ "$(lost)" = 0 ]
cp .err record.err

fkt_print -q trace >summary || fail "fkt_print -q"
grep -E '^(Events|Lost|006e)' summary
check 'fkt_print knows of no loss' grep -qx 'Lost  *none' summary
read -r _ _ entries exits < <(grep ' sys_getppid ' summary)
check "$((cpus * calls)) calls in" [ "$entries" = $((cpus * calls)) ]
check "$((cpus * calls)) calls out" [ "$exits" = $((cpus * calls)) ]
bytes=$(sed -n 's/^Events .*(\([0-9]*\)\.\([0-9]*\) bytes an event)/\1\2/p' summary)
check 'at most 9 bytes an event' between 700 "$bytes" 900

# Not only the sums: each call of a thread returns before its next one.
fkt_print --no-summary --time=cycles trace | perl -ne '
	next unless /^ *-?\d+ +\d+ +(\d+) .{16} (006e|046e) /;
	my $in = $2 eq "006e";
	$wrong++ if $in == ($open{$1} // 0);
	$open{$1} = $in;
	$n++;
	END { print "$n calls and returns, $wrong out of turn\n"; exit($wrong || !$n) }' >turns
check 'calls and returns take turns' [ "${PIPESTATUS[1]}" = 0 ]
cat turns
