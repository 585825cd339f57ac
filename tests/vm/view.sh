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

# look FILE: a server, its $address and number $view.
look() {
	fkt_view --no-browser "$1" >address 2>view.err <"${2:-/dev/null}" &
	view=$!
	background+=("$view")
	wait_until 60 [ -s address ]
	read -r address <address
}

is_seen() {
	[ "$(answer "$address" complete)" = True ] && [ "$(answer "$address" done)" = True ]
}

resident() {
	awk '/^VmRSS/ { print $2 }' "/proc/$view/status"
}

fkt_record -o t sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do calls 5000; sleep 1; done' >record.out 2>&1 &
record=$!
background+=("$record")
wait_until 60 [ -s t ]
sleep 2
look t
grew=0
last=0
first=
while kill -0 "$record" 2>/dev/null; do
	made=$(answer "$address" made_ns)
	[ "$made" -le "$last" ] || grew=$((grew + 1))
	[ "$grew" != 3 ] || [ -n "$first" ] || first=$(resident)
	last=$made
	sleep 0.5
done
wait "$record"
check 'the recording ends well' [ $? = 0 ]
cat record.out
check 'it is seen while it is recorded' [ "$grew" -ge 3 ]
check 'all of it is seen in the end' wait_until 60 is_seen
echo "resident: $first KiB, and $(resident) KiB in the end"
check 'its memory stays the same' [ "$(resident)" -lt $((${first:-0} + 20000)) ]
events=$(fkt_print --summary t | sed -n 's/^Events *\([0-9]*\).*/\1/p')
check 'it has all events' [ "$(answer "$address" events)" = "$events" ]
check 'none is lost' [ "$(answer "$address" lost)" = 0 ]
kill "$view"
wait "$view"
check 'it ends well' [ $? = 0 ]
cat view.err

mkfifo pipe
rm -f address
(fkt_record -o - calls 2000 >pipe 2>record.err) &
look - pipe
check 'all of a stream is seen' wait_until 60 is_seen
cat view.err
