# SPDX-License-Identifier: GPL-2.0-only
# limit: 1200 s
#
# fkt_view of a recording that runs for ten minutes, looked at all the time: every second the last ten seconds and the whole. It
# keeps up, it answers, and its memory does not grow with what is recorded, but for the sums of what is new.

. "$TOP/tests/vm/lib.sh"

seconds=600

# The guest's loopback may be down.
ip link set lo up

(
	end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		calls 5000
		sleep 0.1
	done
) &
load=$!
background+=("$load")
fkt_record -o t sleep $seconds >record.out 2>&1 &
record=$!
background+=("$record")
wait_until 60 [ -s t ]
fkt_view --no-browser t >address 2>view.err &
view=$!
background+=("$view")
wait_until 60 [ -s address ]
read -r address <address

python3 - "$address" "$view" "$record" <<-'END'
	import json, os, sys, time, urllib.request

	address, view, record = sys.argv[1:]

	def ask(what):
	    begun = time.time()
	    with urllib.request.urlopen(address + what) as answer:
	        return answer.read(), time.time() - begun

	def resident():
	    with open(f"/proc/{view}/status", encoding="ascii") as status:
	        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

	def events():
	    return json.loads(ask("trace")[0])["events"]

	answers, memory, made, turns = [], [], [], 0
	while os.path.exists(f"/proc/{record}/comm"):
	    turns += 1
	    now = json.loads(ask("trace")[0])["made_ns"]
	    made.append((time.time(), now))
	    for begin in (0, max(0, now - 10_000_000_000)):
	        answers.append(ask(f"picture?from={begin}&to={max(now, 1)}&width=1500")[1])
	    memory.append(resident())
	    if turns % 60 == 0:
	        print(f"{turns}: {now / 1e9:.1f} s seen, {events()} events, {memory[-1]} KiB, answers at most {max(answers[-120:]) * 1000:.0f} ms", flush=True)
	    time.sleep(1)
	    if os.popen(f"ps -o stat= -p {record}").read().startswith("Z"):
	        break
	# What is seen grows as time does: the two differ by a constant, but for what is on the way.
	behind = [at - seen / 1e9 for at, seen in made[5:]]
	answers.sort()
	third = len(memory) // 3
	grown = memory[-1] - memory[third]
	size = os.stat("t").st_size // 1024
	print(f"behind by {max(behind) - min(behind):.1f} s at most; answers: median {answers[len(answers) // 2] * 1000:.0f} ms, "
	      f"the last of a hundred {answers[len(answers) * 99 // 100] * 1000:.0f} ms, worst {answers[-1] * 1000:.0f} ms; "
	      f"memory: {memory[third]} KiB after a third, {memory[-1]} KiB in the end; the trace has {size} KiB")
	wrong = []
	if made[-1][1] < 0.9 * 600e9:
	    wrong.append("the end was not seen")
	if max(behind) - min(behind) > 10:
	    wrong.append("it did not keep up")
	if answers[len(answers) * 99 // 100] > 2:
	    wrong.append("it did not answer")
	if grown > size // 4:
	    wrong.append("its memory grows with the trace")
	sys.exit("FAILED: " + ", ".join(wrong) if wrong else 0)
END
check 'it keeps up for ten minutes' [ $? = 0 ]
wait "$record"
check 'the recording ends well' [ $? = 0 ]
cat record.out view.err
kill "$view"
wait "$view"
check 'it ends well' [ $? = 0 ]
