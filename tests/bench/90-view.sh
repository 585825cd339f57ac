#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fkt_view of the 100 million events of 50-reading, whose trace it takes: until the first picture, a sample of the pages; until all
# has been read; then pictures of ten lengths, from all of it to some microseconds, five places each, the median and the worst;
# and its memory, with that of files it has in mind.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
trace=${FKT_BENCH_TRACE:-$top/build/bench/100M.trace}

[ -s "$trace" ] || { echo "view: $trace is not there: tests/bench/run reading makes it" >&2; exit 1; }

exec /usr/bin/python3 -B - "$top/build/bin/fkt_view" "$trace" <<'END'
import json
import random
import subprocess
import sys
import time
import urllib.request

view, trace = sys.argv[1:]
begun = time.time()
server = subprocess.Popen([view, "--no-browser", trace], stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().strip()


def ask(what):
    start = time.time()
    data = urllib.request.urlopen(address + what).read()
    return data, (time.time() - start) * 1000


def row(name, value, unit):
    print(f"view\t{name}\t{value:.1f}\t{unit}", flush=True)


info = json.loads(ask("trace")[0])
end = info["end_ns"]
ask(f"picture?from=0&to={end}&width=1500")
row("first_picture", (time.time() - begun) * 1000, "ms")
while not info["done"]:
    time.sleep(0.1)
    info = json.loads(ask("trace")[0])
row("all_read", time.time() - begun, "s")
tids = ",".join(str(thread[0]) for thread in json.loads(ask("threads")[0])["threads"][:40])
place = random.Random(1)
worst, middles = 0, []
for zoom in range(10):
    span = max(1, end // 5**zoom)
    times = []
    for _ in range(5):
        start = int(place.random() * (end - span))
        # As the page asks: half of the window more on both sides.
        times.append(ask(f"picture?from={max(0, start - span // 2)}&to={start + span + span // 2}&width=3000&tids={tids}")[1])
    middles.append(sorted(times)[2])
    worst = max(worst, *times)
row("zoom_median", sorted(middles)[5], "ms")
row("zoom_worst", worst, "ms")
with open(f"/proc/{server.pid}/status", encoding="ascii") as file:
    row("memory", next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024, "MB")
server.terminate()
server.wait()
END
