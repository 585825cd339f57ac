#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fkt_view of the 100 million events of 50-reading, whose trace it takes: until the first picture, a sample of the pages; until all
# has been read; then pictures of ten lengths, from all of it to some microseconds, five places each, the median and the worst;
# and its memory, with that of files it has in mind. Then the page in a browser: until its first picture is shown, by a server
# that has just been started (the median of nine), and what its scripts hold while it is zoomed into. Beside it what KernelShark
# takes until it has loaded the same events (its library, where libkshark2 is installed, without a window), of fkt_export's
# trace.dat. Of Perfetto no distribution has its trace_processor: sid's package is without it.

set -u

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
trace=${FKT_BENCH_TRACE:-$top/build/bench/100M.trace}

[ -s "$trace" ] || { echo "view: $trace is not there: tests/bench/run reading makes it" >&2; exit 1; }

browser='
	const [playwright, chromium, address, zooms] = process.argv.slice(1);
	(async () => {
		const browser = await require(playwright).chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
		const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
		const shown = () => page.waitForFunction(() => trace && !asking && !wanted && data);
		let heap = 0;

		await page.goto(address);
		await shown();
		const first = await page.evaluate(() => document.body.dataset.firstPictureMs);
		const devtools = await page.context().newCDPSession(page);
		await devtools.send("Performance.enable");
		for (let zoom = 0; zoom < Number(zooms); zoom++) {
			await page.mouse.move(700 + 30 * zoom, 300);
			await page.mouse.wheel(0, -800);
			await page.waitForTimeout(300);
			await shown();
			const metrics = (await devtools.send("Performance.getMetrics")).metrics;
			heap = Math.max(heap, metrics.find((one) => one.name === "JSHeapUsedSize").value);
		}
		console.log(first, heap / 1e6);
		await browser.close();
	})();'
/usr/bin/python3 -B - "$top/build/bin/fkt_view" "$trace" "$browser" "$top/build/node/node_modules/playwright-core" <<'END' || exit 1
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

view, trace, browser, playwright = sys.argv[1:]


# One that has never seen this trace.
def serve():
    kept = tempfile.mkdtemp()
    started = subprocess.Popen([view, "--no-browser", trace], stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": kept})
    return started, started.stdout.readline().strip(), kept


def in_browser(page, zooms):
    answer = subprocess.run(["node", "-e", browser, playwright, shutil.which("chromium"), page, str(zooms)],
                            capture_output=True, text=True, check=True)
    return map(float, answer.stdout.split())


def stop(started, kept):
    started.terminate()
    started.wait()
    shutil.rmtree(kept)


def ask(what):
    start = time.time()
    data = urllib.request.urlopen(address + what).read()
    return data, (time.time() - start) * 1000


def row(name, value, unit):
    print(f"view\t{name}\t{value:.1f}\t{unit}", flush=True)


begun = time.time()
server, address, kept = serve()
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
stop(server, kept)
if shutil.which("chromium"):
    firsts, heap = [], 0
    for zooms in [0] * 8 + [10]:
        server, address, kept = serve()
        first, held = in_browser(address, zooms)
        stop(server, kept)
        firsts.append(first)
        heap = max(heap, held)
    row("browser_first_picture", sorted(firsts)[4], "ms")
    row("browser_memory", heap, "MB")
else:
    print("view: the browser is left out: chromium is not installed", file=sys.stderr)
END

load='
import ctypes, sys
kshark = ctypes.CDLL("libkshark.so.2")
kshark.kshark_load_entries.restype = ctypes.c_ssize_t
if len(sys.argv) > 1:
    context, rows = ctypes.c_void_p(), ctypes.c_void_p()
    kshark.kshark_instance(ctypes.byref(context))
    stream = kshark.kshark_open(context, sys.argv[1].encode())
    sys.exit(stream < 0 or kshark.kshark_load_entries(context, stream, ctypes.byref(rows)) <= 0)
'
if ! /usr/bin/python3 -c "$load" 2>/dev/null; then
	echo 'view: KernelShark is left out: libkshark2 is not installed' >&2
	exit
fi
exported=$(mktemp "$top/build/bench/XXXXXX.dat")
trap 'rm -f "$exported"' EXIT
"$top/build/bin/fkt_export" --to trace.dat -o "$exported" "$trace" 2>/dev/null || exit 1
read -r wall _ memory < <("$top/build/tests/bench/measure" /usr/bin/python3 -c "$load" "$exported" 2>&1 >/dev/null | tail -1)
printf 'view\tkernelshark_loaded\t%s\ts\nview\tkernelshark_memory\t%s\tMB\n' "$wall" "$memory"
