# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# fkt_view of a recording that runs: what is recorded is seen soon, its memory stays the same, and in the end it has all of it, as
# fkt_print has. The same through a pipe.

. "$TOP/tests/vm/lib.sh"

# The guest's loopback may be down.
ip link set lo up

# answer ADDRESS KEY: a number or a word out of what fkt_view says of the trace.
answer() {
	python3 - "$1" "$2" <<-'END'
		import json, sys, urllib.request
		print(json.load(urllib.request.urlopen(sys.argv[1] + "trace"))[sys.argv[2]])
	END
}

# look INPUT TRACE…: a server, its $address and number $view.
look() {
	rm -f address
	fkt_view --no-browser "${@:2}" >address 2>view.err <"$1" &
	view=$!
	background+=("$view")
	wait_until 60 [ -s address ]
	read -r address <address
}

is_seen() {
	[ "$(answer "$address" complete)" = True ] && [ "$(answer "$address" done)" = True ]
}

# are_read ADDRESS…
are_read() {
	local one

	for one; do
		[ "$(answer "$one" done)" = True ] || return 1
	done
}

resident() {
	awk '/^VmRSS/ { print $2 }' "/proc/$view/status"
}

# It goes on until enough of it was seen; or until it is too late for that.
fkt_record -o t sh -c 'until [ -e seen ]; do calls 5000; sleep 1; done' >record.out 2>&1 &
record=$!
background+=("$record")
wait_until 60 [ -s t ]
sleep 2
look /dev/null t
grew=0
last=0
first=
end=$((SECONDS + 60 * FKT_SLOW))
while [ "$grew" -lt 6 ] && [ $SECONDS -lt $end ]; do
	made=$(answer "$address" made_ns) || die 'fkt_view does not answer'
	[ "$made" -le "$last" ] || grew=$((grew + 1))
	[ "$grew" != 3 ] || [ -n "$first" ] || first=$(resident)
	last=$made
	sleep 0.5
done
: >seen
wait "$record"
check 'the recording ends well' [ $? = 0 ]
cat record.out
check 'it is seen while it is recorded' [ "$grew" = 6 ]
check 'all of it is seen in the end' wait_until 60 is_seen
echo "resident: $first KiB, and $(resident) KiB in the end"
check 'its memory stays the same' between 1 "$(resident)" $((first + 20000))
events=$(fkt_print --summary t | sed -n 's/^Events *\([0-9]*\).*/\1/p')
check 'it has all events' [ "$(answer "$address" events)" = "$events" ]
check 'none is lost' [ "$(answer "$address" lost)" = 0 ]
kill "$view"
wait "$view"
check 'it ends well' [ $? = 0 ]
cat view.err

# Another recording of the same machine, of a program that tells of itself: both on one line of time.
check 'a program is recorded' fkt_record -o u -k system,process,application --profile=997 app_events counts 300
look /dev/null t u
check 'of both, all is seen' wait_until 60 are_read "$address" "${address}1/"
python3 - "$address" "$(fkt_query --format=csv u "SELECT count(*), max(value) FROM args WHERE name = 'app:counted'" | tail -1)" <<-'END'
	import json, struct, sys, urllib.request

	address, counted = sys.argv[1:]

	def ask(what):
	    with urllib.request.urlopen(address + what) as answer:
	        return answer.read()

	own, other = json.loads(ask("traces"))["traces"]
	if (own["by"], other["by"]) != ("stamps", "stamps") or not 1e9 < other["offset_ns"] < 600e9:
	    sys.exit(f"FAILED: {own} {other}")
	end = json.loads(ask("1/trace"))["end_ns"]
	counters = json.loads(ask("1/threads"))["counters"]
	if [name for _, _, name in counters] != ["app:counted"]:
	    sys.exit(f"FAILED: the counters are {counters}")
	data = ask(f"1/picture?from=0&to={end}&width=8000&tids={counters[0][0]}")
	size = struct.unpack_from("<I", data)[0]
	head, values = json.loads(data[4 : 4 + size]), []
	for at in range(4 + size, len(data), 32):
	    track, number, _, _, last, last_inner = struct.unpack_from("<6I", data, at)
	    if track == counters[0][0] and number != 0xFFFFFFFF:
	        values.append(last_inner << 32 | last)
	if values != sorted(values) or f"{len(values)},{values[-1]}" != counted:
	    sys.exit(f"FAILED: the counter has {values[:5]} … {values[-5:]}, not {counted}")
	if "counted up" not in [mark[2] for mark in head["marks"]] or not head["samples"]:
	    sys.exit(f"FAILED: the marks are {head['marks']}, and there are {len(head['samples'])} samples")
END
check 'counters, marks and samples are seen' [ $? = 0 ]
kill "$view"
wait "$view"
cat view.err

mkfifo pipe
(fkt_record -o - calls 2000 >pipe 2>record.err) &
look pipe -
check 'all of a stream is seen' wait_until 60 is_seen
cat view.err
