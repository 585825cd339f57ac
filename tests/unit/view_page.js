// SPDX-License-Identifier: GPL-2.0-only
// fkt_view's page in a browser, without a window: view_page.js PLAYWRIGHT CHROMIUM ADDRESS TRACE BIN ADDRESS TRACE ADDRESS PICTURES
// The traces are those of test_collect, whose right answers are known: threads that wait, and programs that tell of themselves; the
// third address has the second one and the first.
// Each number on the page is fkt_print's of the same span.
"use strict";

const { execFileSync } = require("child_process");
const fs = require("fs");

const [, , playwright, chromium, address, trace, bin, programsAddress, programs, bothAddress, pictures] = process.argv;
const { chromium: browser } = require(playwright);
const ROUND = 100000, SLOW = 7 * ROUND, READER = 60, WRITER = 50;
let failed = 0;

function fail(sentence) {
	console.log(`FAILED: ${sentence}`);
	failed = 1;
}

function same(what, got, wanted) {
	if (JSON.stringify(got) !== JSON.stringify(wanted))
		fail(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}

function printed(from, to, ...options) {
	return printedOf(trace, `--range=${from}ns..${to}ns`, ...options);
}

function printedOf(path, ...options) {
	return execFileSync(`${bin}/fkt_print`, ["--format=json", ...options, path], { stdio: ["ignore", "pipe", "ignore"] })
		.toString().split("\n").filter(Boolean).map(line => JSON.parse(line));
}

// What is seen, as the address has it.
function seen(page) {
	return page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
}

async function until(page, what, test, arg) {
	try {
		await page.waitForFunction(test, arg, { timeout: 15000, polling: 50 });
	} catch {
		fail(`${what}: it does not come`);
	}
}

// The page has asked for what it shows, and drawn it.
async function settled(page) {
	await until(page, "a picture", () => !asking && !wanted && data && !document.querySelector("[aria-busy]"));
}

async function key(page, name) {
	await page.locator("#rows").focus();
	await page.keyboard.press(name);
	await settled(page);
}

// Where a moment of a row is on the page.
async function place(page, row, ns) {
	return page.evaluate(([row, ns]) => {
		const box = byId("canvas").getBoundingClientRect(), one = rows.find(other => other.label.startsWith(row));
		return { x: box.left + xOf(ns), y: box.top + one.y - byId("rows").scrollTop + 14 };
	}, [row, ns]);
}

// The colour of a moment's pixel in a row, so far from its top.
async function color(page, row, ns, down) {
	return page.evaluate(([row, ns, down]) => {
		const one = rows.find(other => other.label.startsWith(row)), ratio = window.devicePixelRatio || 1;
		const at = byId("canvas").getContext("2d").getImageData(Math.floor(xOf(ns) * ratio), Math.floor((one.y - byId("rows").scrollTop + down) * ratio), 1, 1).data;
		return "#" + [at[0], at[1], at[2]].map(part => part.toString(16).padStart(2, "0")).join("");
	}, [row, ns, down]);
}

// Each cell of a table against fkt_print's row.
async function sameTable(page, name, from, to, ...options) {
	await page.locator(`[data-tab=${name}]`).click();
	await settled(page);
	const wanted = printed(from, to, ...options);
	const got = await page.evaluate(() => [...document.querySelectorAll("#table table")].map(table => ({
		name: table.dataset.table,
		rows: [...table.tBodies[0].rows].map(row => Object.fromEntries([...row.cells].map(cell => [cell.dataset.column, cell.dataset.value]))),
	})));
	let compared = 0;
	for (const table of got) {
		const rows = wanted.filter(row => row.table.replace(/_total$/, "") === table.name);
		same(`${name}: rows of ${table.name}`, table.rows.length, rows.length);
		table.rows.forEach((row, i) => {
			for (const [column, value] of Object.entries(row)) {
				const number = rows[i] && rows[i][column];
				same(`${name}: ${column} in row ${i} of ${table.name}`, value,
					number === null || number === undefined ? "" : typeof number === "object" ? JSON.stringify(number) : String(number));
				compared++;
			}
		});
	}
	same(`${name}: tables`, got.map(table => table.name), [...new Set(wanted.map(row => row.table.replace(/_total$/, "")))]);
	if (compared < 10)
		fail(`${name}: only ${compared} cells were compared`);
}

async function checkPicture(page) {
	same("first row", await page.locator("#labels button.name").first().textContent(), "CPU 0");
	same("a name that is markup", await page.getByText("<b>writer</b> 50", { exact: true }).count(), 1);
	same("no markup came of it", await page.locator("#labels b").count(), 0);
	const colors = await page.evaluate(() => COLORS[theme]);
	await page.evaluate(([from, to]) => setView(from, to), [SLOW, SLOW + ROUND]);
	await settled(page);
	// Running, asleep, ready, running again.
	same("the reader runs", await color(page, "reader", SLOW + 5000, 8), colors.running);
	same("it sleeps", await color(page, "reader", SLOW + 40000, 14), colors.sleeping);
	same("it does no more than that", await color(page, "reader", SLOW + 40000, 8), colors.back);
	same("it is ready", await color(page, "reader", SLOW + 82000, 8), colors.ready);
	same("it runs again", await color(page, "reader", SLOW + 95000, 8), colors.running);
	// Nothing changes there any more before the next event, which is not seen.
	same("the writer runs on", await color(page, "<b>writer", SLOW + 97000, 8), colors.running);
	same("CPU 1 is idle", await color(page, "CPU 1", SLOW + 50000, 25), colors.back);
	same("an interrupt", await color(page, "CPU 1", SLOW + 16000, 4), colors.irq);
	// A loss is drawn as one: neither as idleness nor as somebody's time.
	await page.evaluate(([from, to]) => setView(from, to), [12 * ROUND, 14 * ROUND]);
	await settled(page);
	const lost = new Set(), quiet = new Set();
	for (let ns = 12 * ROUND + 40000; ns < 13 * ROUND + 15000; ns += 500) {
		lost.add(await color(page, "CPU 0", ns, 25));
		quiet.add(await color(page, "<b>writer", ns, 8));
	}
	if (!lost.has(colors.loss) || quiet.has(colors.running) || !quiet.has(colors.loss))
		fail(`the loss is drawn in ${[...lost]} and ${[...quiet]}`);
	same("and said", await page.locator("#losses").textContent(), "5 events were lost: hatched where that was");
}

// Wake-ups are drawn all or not at all: the first ones alone would look as if there were no others.
async function checkArrows(page) {
	same("arrows of wake-ups", await page.evaluate(([by, tid]) => {
		const { wakes, all_wakes } = data, was = chosen;
		const arrows = (some, all) => {
			const drawing = new Drawing(100, 100);
			data.wakes = Array.from({ length: some }, (_, i) => [view.from + i, 0, by, tid]);
			data.all_wakes = all;
			drawWakes(drawing, 0);
			return drawing.root.querySelectorAll("path").length;
		};
		chosen = tid;
		const counts = [arrows(ARROWS_MAX, ARROWS_MAX), arrows(ARROWS_MAX + 1, ARROWS_MAX + 1), arrows(100, 3000)];
		chosen = was;
		Object.assign(data, { wakes, all_wakes });
		return counts;
	}, [WRITER, READER]), [200, 0, 0]);
}

async function checkWay(page) {
	await key(page, "Home");
	same("the whole trace", Number((await seen(page)).from), 0);
	// To an event that is known beforehand, by its name.
	await page.keyboard.press("/");
	await page.keyboard.type("G");
	await page.keyboard.press("Enter");
	await until(page, "G is found", at => moment && moment.at === at, SLOW + 50000);
	same("who was in it", (await seen(page)).thread, String(WRITER));
	await page.locator("#text").fill("");
	for (let i = 0; i < 6; i++)
		await key(page, "w");
	const close = await seen(page);
	if (close.to - close.from > ROUND || close.from > SLOW + 50000 || close.to < SLOW + 50000)
		fail(`after six times w, ${close.from} to ${close.to} are seen`);
	// A click on the wait, who woke the thread, and to that one.
	await page.evaluate(([from, to]) => setView(from, to, true), [SLOW, SLOW + ROUND]);
	await settled(page);
	const spot = await place(page, "reader", SLOW + 50000);
	await page.mouse.click(spot.x, spot.y);
	await until(page, "the wait", () => document.querySelector("#wait"));
	same("when it left, and was back", await page.locator("#wait").evaluate(one => [one.dataset.leftNs, one.dataset.backNs]),
		[String(SLOW + 10000), String(SLOW + 84000)]);
	const waits = printed(SLOW, SLOW + ROUND, "--waits").filter(row => row.tid === READER && row.waker_tid === WRITER);
	same("its lengths are fkt_print's", await page.evaluate(() => [byId("wait").dataset.sleptNs, byId("waker").dataset.readyNs].map(Number)),
		waits.flatMap(row => [row.max_ns, row.ready_max_ns]));
	same("which are the right ones", waits.flatMap(row => [row.max_ns, row.ready_max_ns]), [70000, 4000]);
	same("who woke it", await page.locator("#waker").evaluate(one => [one.dataset.tid, one.dataset.wokenNs]), [String(WRITER), String(SLOW + 80000)]);
	await page.getByRole("button", { name: "Mark this wait" }).click();
	await settled(page);
	same("the wait is marked", (await seen(page)).mark, `${SLOW + 10000}..${SLOW + 84000}`);
	await key(page, "o");
	await until(page, "the waker", tid => moment && moment.tid === tid && moment.answer, WRITER);
	const said = await page.locator("#moment").textContent();
	if (!said.includes("<b>writer</b> 50 ran on CPU 0") || !said.includes("sys_write"))
		fail(`of the waker is said: ${said}`);
	// Its calls, each below its caller.
	await settled(page);
	same("the waker's calls", await page.evaluate(at => flame.calls.filter(([, from, to]) => from <= at && to > at).map(([depth, , , , , name]) => [depth, name]).sort(),
		SLOW + 55000), [[0, "sys_write"], [1, "G"]]);
	await page.goBack();
	await until(page, "back", tid => chosen === tid, READER);
	await page.goForward();
	await until(page, "forward", tid => chosen === tid, WRITER);
	await settled(page);
	await key(page, "Escape");
	same("G is drawn", await color(page, "<b>writer", SLOW + 50500, 30 + 13 + 4), await page.evaluate(() => colorOf("G")));
}

async function checkMark(page) {
	// By the mouse, in the time scale.
	await page.evaluate(([from, to]) => setView(from, to), [2 * ROUND, 18 * ROUND]);
	await key(page, "Escape");
	const box = await page.locator("#ruler").boundingBox();
	await page.mouse.move(box.x + box.width * 3 / 16, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2, box.y + 12, { steps: 4 });
	await page.mouse.up();
	await settled(page);
	const [from, to] = (await seen(page)).mark.split("..").map(Number);
	if (Math.abs(from - 5 * ROUND) > ROUND / 50 || Math.abs(to - 10 * ROUND) > ROUND / 50)
		fail(`marked is ${from} to ${to}`);
	same("its length", Number(await page.locator("#marked").getAttribute("data-ns")), to - from);
	await sameTable(page, "summary", from, to, "--summary");
	await sameTable(page, "waits", from, to, "--waits");
	await sameTable(page, "by", from, to, "--by=function");
	await sameTable(page, "spans", from, to, "--spans");
	await sameTable(page, "calls", from, to, "--calls");
	await sameTable(page, "noise", from, to, "--noise");
	await sameTable(page, "events", from, to, "--no-summary");
	// Of what is asked for besides.
	const pick = async (name, words) => {
		await page.locator(`[data-tab=${name}]`).click();
		await page.locator("#pick").fill(words);
		await page.locator("#pick").press("Enter");
		await settled(page);
		return page.locator("#table tbody tr").count();
	};
	same("calls that took long", await pick("spans", "60us"), printed(from, to, "--spans", "--longer-than=60us").length);
	same("events by name", await pick("events", "irq"), printed(from, to, "--no-summary", "--code=*irq*").length);
	same("by other fields", await pick("by", "process,function"), printed(from, to, "--by=process,function").length);
	// Sorted, and from a row to its moment.
	await page.locator("[data-tab=spans]").click();
	await settled(page);
	await page.locator("#table th button", { hasText: /^duration$/ }).click();
	const sorted = await page.locator("#table td[data-column=duration_ns]").evaluateAll(cells => cells.map(cell => Number(cell.dataset.value)));
	same("sorted", sorted, [...sorted].sort((a, b) => b - a));
	same("it says so", await page.locator("th[aria-sort=descending]").count(), 1);
	await page.locator("#table tbody tr").first().click();
	await until(page, "the longest call's moment", at => moment && moment.at === at, SLOW);
	await settled(page);
	// The same address shows the same to somebody else.
	const other = await page.context().newPage();
	await other.goto(page.url());
	await settled(other);
	same("the address has what is seen", await seen(other), await seen(page));
	same("and what is marked", await other.locator("#marked").textContent(), await page.locator("#marked").textContent());
	await other.close();
}

// A SELECT's rows are fkt_query's, as text; from a time in them to its moment.
async function checkQuery(page) {
	await page.evaluate(([from, to]) => { setView(0, trace.end_ns); setMark(from, to); }, [5 * ROUND, 10 * ROUND]);
	await page.locator("[data-tab=sql]").click();
	const run = async sql => {
		await page.locator("#sql").fill(sql);
		await page.locator("#sql").press("Control+Enter");
		await settled(page);
		return page.locator("#result table tbody tr").evaluateAll(all => all.map(row => Object.fromEntries([...row.cells].map(cell => [cell.dataset.column, cell.textContent]))));
	};
	const wanted = sql => execFileSync(`${bin}/fkt_query`, ["--format=json", trace, sql], { stdio: ["ignore", "pipe", "ignore"] })
		.toString().split("\n").filter(Boolean).map(line => Object.fromEntries(Object.entries(JSON.parse(line)).map(([column, value]) => [column, value === null ? "" : String(value)])));
	const calls = "SELECT begin, elapsed, tid, process, name FROM calls WHERE begin >= {from} AND begin < {to} ORDER BY elapsed DESC";
	const rows = await run(calls);
	same("rows of a query", rows, wanted(calls.replace("{from}", 5 * ROUND).replace("{to}", 10 * ROUND)));
	same("which are there", rows.length > 10 && rows.some(row => row.process === "<b>writer</b>"), true);
	same("no markup of a query", await page.locator("#result b").count(), 0);
	const longest = rows.findIndex(row => row.name === "sys_write");
	await page.locator("#result tbody tr").nth(longest).locator("td[data-column=begin] button").click();
	await until(page, "the call's moment", at => moment && moment.at === at && view.from <= at && view.to >= at, Number(rows[longest].begin));
	await settled(page);
	same("and its thread", (await seen(page)).thread, String(WRITER));
	const large = "SELECT 9223372036854775807 AS most, 'x' AS [table], '12345678901234567890' AS text";
	same("what JavaScript would round", await run(large), [{ most: "9223372036854775807", table: "x", text: "12345678901234567890" }]);
	await run("SELECT '<img src=x onerror=alert(1)>' FROM nowhere");
	same("an error", (await page.locator("#result").textContent()).startsWith("no such table: nowhere"), true);
	// Another span is marked: what was asked is still there.
	await page.evaluate(([from, to]) => setMark(from, to), [5 * ROUND, 6 * ROUND]);
	same("the statement stays", await page.locator("#sql").inputValue(), "SELECT '<img src=x onerror=alert(1)>' FROM nowhere");
	same("rows of the other span", (await run(calls)).length, wanted(calls.replace("{from}", 5 * ROUND).replace("{to}", 6 * ROUND)).length);
	if (pictures)
		await page.screenshot({ path: `${pictures}/sql.png` });
	await page.evaluate(([from, to]) => setMark(from, to), [5 * ROUND, 10 * ROUND]);
}

// Notes on moments: added, there for others, from one to its moment, taken back. Their texts are text.
async function checkNotes(page) {
	const words = "<i>here</i> \"it\" waits";
	const spot = await page.evaluate(([from, to]) => setView(from, to), [SLOW, SLOW + ROUND]).then(() => place(page, "reader", SLOW + 50000));
	await settled(page);
	await page.mouse.click(spot.x, spot.y);
	await until(page, "the moment", () => moment && moment.answer);
	const at = Math.round(await page.evaluate(() => moment.at));
	await page.locator("#rows").focus();
	await page.keyboard.press("e");
	await page.keyboard.type(words);
	await page.keyboard.press("Enter");
	await until(page, "the note", () => notes.length === 1);
	const kept = fs.readFileSync(`${trace}.notes`, "utf8").trim().split("\n").map(line => JSON.parse(line));
	same("it is kept", kept.map(line => [line.at_ns, line.tid, line.text]), [[at, READER, words]]);
	same("it is shown", await page.locator("table[data-table=notes] tr").evaluateAll(all => all.map(row => [...row.cells].map(cell => cell.textContent))),
		[[await page.evaluate(ns => when(ns), at), "reader 60", words, "Remove"]]);
	same("no markup of it", await page.locator("#table i").count(), 0);
	await page.evaluate(() => setView(0, trace.end_ns));
	await settled(page);
	const other = await page.context().newPage();
	await other.goto(page.url().replace(/at=\d+/, "").replace(/from=\d+&to=\d+/, "from=0&to=900000"));
	await settled(other);
	const mark = await other.evaluate(ns => { const box = byId("ruler").getBoundingClientRect(); return { x: box.left + xOf(ns), y: box.top + 20 }; }, at);
	await other.mouse.move(mark.x, mark.y);
	same("under the pointer of another page", (await other.locator("#tip").textContent()).startsWith(words), true);
	await other.locator("table[data-table=notes] button").first().click();
	await until(other, "its moment", ns => moment && moment.at === ns && moment.tid === 60, at);
	await other.getByRole("button", { name: "Remove" }).click();
	await until(other, "taken back", () => !notes.length);
	await other.close();
	await page.evaluate(() => askFor("notes").then(takeNotes));
	same("it is gone", await page.evaluate(() => notes.length), 0);
	// One that can't be kept is said to be none, and its text is still there.
	fs.unlinkSync(`${trace}.notes`);
	fs.mkdirSync(`${trace}.notes`);
	await page.locator("#note").fill("lost");
	await page.locator("#note").press("Enter");
	await until(page, "that it is not kept", () => byId("message").textContent.includes("are as they were: Is a directory"));
	same("its text", await page.locator("#note").inputValue(), "lost");
	fs.rmdirSync(`${trace}.notes`);
}

// The drawing has what the canvas has, pixel by pixel but for the letters' edges.
async function checkDrawing(page, save) {
	await page.evaluate(([from, to]) => setView(from, to), [5 * ROUND, 14 * ROUND]);
	await settled(page);
	const canvas = await page.evaluate(() => { const one = byId("canvas"); return { url: one.toDataURL(), wide: one.width, high: one.height, side: byId("labels").offsetWidth }; });
	let svg = "";
	await save(() => page.locator("#drawing").click(), (data, name) => {
		svg = data.toString();
		if (!name.endsWith(".svg") || !svg.includes("&lt;b&gt;writer&lt;/b&gt; 50") || svg.includes("<b>"))
			fail(`${name} is no drawing: ${svg.slice(0, 200)}`);
	});
	const blank = await page.context().newPage();
	const differs = await blank.evaluate(async ([svg, { url, wide, high, side }]) => {
		const pixels = async (source, x, y) => {
			const image = new Image(), canvas = document.createElement("canvas"), context = canvas.getContext("2d");
			image.src = source;
			await image.decode();
			canvas.width = wide;
			canvas.height = high;
			context.drawImage(image, -x, -y);
			return context.getImageData(0, 0, wide, high).data;
		};
		const drawn = await pixels(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, side, 30), seen = await pixels(url, 0, 0);
		let differs = 0, colored = 0;
		for (let i = 0; i < seen.length; i += 4) {
			differs += [0, 1, 2].some(part => Math.abs(seen[i + part] - drawn[i + part]) > 60);
			colored += seen[i] !== 255 || seen[i + 1] !== 255 || seen[i + 2] !== 255;
		}
		return { differs: differs / colored, colored };
	}, [svg, canvas]);
	await blank.close();
	if (differs.differs > .02 || differs.colored < 10000)
		fail(`the drawing differs in ${JSON.stringify(differs)}`);
}

async function checkFiles(page) {
	const save = async (click, check) => {
		const [download] = await Promise.all([page.waitForEvent("download"), click()]);
		check(fs.readFileSync(await download.path()), download.suggestedFilename());
	};
	await save(() => page.locator("#picture").click(), (data, name) => {
		if (data.subarray(1, 4).toString() !== "PNG" || data.length < 5000 || !name.endsWith(".png"))
			fail(`${name} of ${data.length} bytes is no picture`);
	});
	await checkDrawing(page, save);
	await page.locator("[data-tab=by]").click();
	await settled(page);
	await save(() => page.locator("#csv").click(), data => {
		const [head, ...lines] = data.toString().trim().split("\n");
		if (!head.startsWith("function,count,") || lines.length < 2)
			fail(`the CSV is ${data}`);
	});
	const [from, to] = (await seen(page)).mark.split("..").map(Number);
	await save(() => page.locator("#save").click(), data => {
		fs.writeFileSync(`${trace}.part`, data);
		const part = printedOf(`${trace}.part`, "--no-summary");
		same("events of the part", part.length, printed(from, to, "--no-summary").length);
	});
	await save(() => page.locator("#flame").click(), data => {
		if (!data.toString().includes("<svg") || !data.toString().includes("sys_read"))
			fail("that is no flame graph");
	});
	await save(() => page.locator("#perfetto").click(), (data, name) => {
		if (data.length < 1000 || name !== "part.perfetto-trace")
			fail(`${name} has ${data.length} bytes`);
	});
}

async function checkKeys(page) {
	await page.evaluate(([from, to]) => setView(from, to), [5 * ROUND, 10 * ROUND]);
	const span = async () => { const at = await seen(page); return [Number(at.from), Number(at.to)]; };
	let before = await span();
	await key(page, "d");
	let after = await span();
	if (after[0] <= before[0] || after[1] - after[0] !== before[1] - before[0])
		fail(`d: ${before} to ${after}`);
	await key(page, "ArrowLeft");
	same("d and left", await span(), before);
	await key(page, "s");
	after = await span();
	if (after[1] - after[0] <= before[1] - before[0])
		fail(`s: ${before} to ${after}`);
	await key(page, "m");
	same("m", (await seen(page)).mark, (await span()).join(".."));
	before = await span();
	await key(page, "w");
	await key(page, "f");
	same("f", await span(), before);
	const was = await page.evaluate(() => chosen);
	await key(page, "j");
	await key(page, "k");
	if (await page.evaluate(() => chosen) === null || was === undefined)
		fail("j and k choose no thread");
	const theme = await page.evaluate(() => document.documentElement.dataset.theme);
	await key(page, "t");
	if (await page.evaluate(() => document.documentElement.dataset.theme) === theme)
		fail("t does not change the colours");
	await key(page, "t");
	await page.keyboard.press("?");
	same("the keys are shown", await page.locator("#help").evaluate(one => one.open), true);
	await page.keyboard.press("Escape");
	same("and gone", await page.locator("#help").evaluate(one => one.open), false);
	// The wheel, to the pointer.
	const spot = await place(page, "reader", 7 * ROUND);
	await page.mouse.move(spot.x, spot.y);
	before = await span();
	await page.mouse.wheel(0, -240);
	await until(page, "the wheel", wide => view.to - view.from < wide * .6, before[1] - before[0]);
	await settled(page);
	const moved = Math.abs((await place(page, "reader", 7 * ROUND)).x - spot.x);
	if (moved > 2)
		fail(`the wheel moves what is under the pointer by ${moved} pixels`);
	// Everything has a name.
	const bare = await page.evaluate(() => [...document.querySelectorAll("button, input, canvas, section, [role=listitem] button")]
		.filter(one => !one.getAttribute("aria-hidden") && !(one.getAttribute("aria-label") || one.textContent.trim() || one.title || one.closest("label")))
		.map(one => one.outerHTML.slice(0, 80)));
	same("without a name", bare, []);
}

// Addresses that were not made by the page, and a browser that refuses to note so many of them.
async function checkAddresses(page) {
	for (const thread of ["99999999999", "4294967295", String(2 ** 30)]) {
		await page.goto("about:blank");
		await page.goto(`${address}#from=0&to=${ROUND}&thread=${thread}`);
		await settled(page);
		same(`thread ${thread}`, await page.evaluate(() => chosen), null);
	}
	// Of a trace that grows, its end is not that of a moment ago.
	await page.evaluate(() => { trace.complete = false; setView(0, trace.end_ns); });
	same("up to the end", (await seen(page)).to, undefined);
	await page.reload();
	await settled(page);
	same("and that of now", await page.evaluate(() => view.to === trace.end_ns), true);
	// An error in the beginning stays to be read, and what is done meanwhile is none.
	const other = await page.context().newPage();
	let goOn;
	const pressed = new Promise(done => { goOn = done; });
	await other.route("**/notes", route => route.fulfill({ status: 500, body: "Cannot allocate memory" }));
	await other.route("**/threads", async route => {
		await pressed;
		await route.continue();
	});
	await other.goto(address);
	await other.keyboard.press("d");
	goOn();
	await until(other, "what is wrong", () => !byId("losses").hidden && byId("losses").textContent.includes("Cannot allocate memory"));
	await other.waitForTimeout(600);
	same("it stays", await other.evaluate(() => !byId("losses").hidden && byId("losses").textContent.includes("Cannot allocate memory")), true);
	await other.close();
	await page.evaluate(() => {
		history.replaceState = history.pushState = () => { throw new DOMException("The operation is insecure.", "SecurityError"); };
		setView(2000, 102000);
		setMark(3000, 4000, true);
	});
	await settled(page);
	same("seen without being noted", await page.evaluate(() => [view.from, data.exact, mark.from]), [2000, true, 3000]);
	await page.evaluate(() => { delete history.replaceState; delete history.pushState; });
	await until(page, "the address in the end", () => /from=2000&to=102000.*mark=3000/.test(location.hash));
}

// Samples, spans, counters and marks of programs.
async function checkPrograms(page) {
	await page.goto(programsAddress);
	await settled(page);
	same("counters", await page.locator("#labels button.name", { hasText: "clients" }).allTextContents(), ["clients <i>shop 70", "clients cart 80"]);
	same("no markup of programs", await page.locator("#labels i").count(), 0);
	const base = 4 * ROUND, colors = await page.evaluate(() => COLORS[theme]);
	await page.evaluate(([from, to]) => setView(from, to), [base, base + 4 * ROUND]);
	await settled(page);
	// Of what is seen, 7 is the most; 3 is the value from 45 us on, as fkt_print has it.
	const events = printedOf(programs, "--no-summary", "--code=app:clients", "--process=70").filter(row => row.time_ns <= base + 60000);
	const value = events[events.length - 1].args.value;
	same("the counter's value", value, 3);
	for (const [at, of] of [[base + 60000, value], [base + 3 * ROUND + 30000, 7]])
		same(`the line of ${of}`, await color(page, "clients <i>shop", at, 26 - of / 7 * 21 - .5), colors.sample);
	same("and no more", await color(page, "clients <i>shop", base + 60000, 12), colors.back);
	let spot = await place(page, "clients <i>shop", base + 60000);
	await page.mouse.move(spot.x, spot.y);
	same("its value under the pointer", (await page.locator("#tip").textContent()).split("\n")[1], "3");
	// A sample, on its CPU and in its thread's row.
	const sample = printedOf(programs, "--no-summary", "--code=sample").find(row => row.time_ns >= base + ROUND);
	for (const row of ["CPU 0", "<i>shop"]) {
		same(`a tick of ${row}`, await color(page, row, sample.time_ns, row === "CPU 0" ? 32 : 2), colors.sample);
		spot = await place(page, row, sample.time_ns);
		await page.mouse.move(spot.x, spot.y);
		if (!(await page.locator("#tip").textContent()).includes("sample of <i>shop 70: inner on CPU 0"))
			fail(`under the pointer is ${await page.locator("#tip").textContent()}`);
		await page.mouse.click(spot.x, spot.y);
		await until(page, "the sample", at => moment && moment.at === at && document.querySelector("#sampled"), sample.time_ns);
		if (!(await page.locator("#sampled").textContent()).includes(": inner on CPU 0"))
			fail(`of the sample is said: ${await page.locator("#sampled").textContent()}`);
		await page.evaluate(() => { moment = null; byId("moment").hidden = true; draw(); });
	}
	// A span in a span, in the thread's row.
	same("spans", await color(page, "<i>shop", base + 10000, 18), await page.evaluate(() => colorOf("app:order")));
	// A trigger, and what it waited for.
	spot = await page.evaluate(at => { const box = byId("ruler").getBoundingClientRect(); return { x: box.left + xOf(at), y: box.top + 20 }; }, 571000);
	await page.mouse.move(spot.x, spot.y);
	same("the trigger", (await page.locator("#tip").textContent()).split(",")[0], "long wait");
	// By function, as fkt_print has it.
	await page.locator("[data-tab=profile]").click();
	await settled(page);
	const rows = await page.locator("table[data-table=profile] tbody tr").evaluateAll(all => all.map(row => [...row.cells].map(cell => cell.dataset.value)));
	same("samples by function", rows.map(([name]) => name), printedOf(programs, "--profile").filter(row => row.table === "profile").map(row => row.function));
	if (pictures)
		await page.screenshot({ path: `${pictures}/programs.png` });
}

// Two traces on one line of time: the CPUs of both, each where its clock says; and from one to the other.
async function checkSeveral(page) {
	const later = 5000; // so many ns after the other one, this one begins
	await page.goto(bothAddress);
	await settled(page);
	same("both", await page.locator("#traces option").allTextContents(), ["programs.fkt", "known.fkt (5.000 us earlier, by stamps)"]);
	await page.evaluate(([from, to]) => setView(from, to), [SLOW - later, SLOW - later + ROUND]);
	await settled(page);
	const colors = await page.evaluate(() => COLORS[theme]), at = ns => SLOW - later + ns, row = "CPU 1 of known.fkt";
	// The reader runs, sleeps, and there is an interrupt: as in the trace's own page.
	for (const [ns, down, is] of [[5000, 28, await page.evaluate(() => colorOf("reader"))], [50000, 28, colors.back], [16000, 4, colors.irq], [86000, 28, await page.evaluate(() => colorOf("reader"))]])
		same(`the other's CPU at ${ns}`, await color(page, row, at(ns), down), is);
	same("its own CPU", await color(page, "CPU 0", at(50000), 28), await page.evaluate(() => colorOf("<i>shop")));
	let spot = await place(page, row, at(5000));
	await page.mouse.move(spot.x, spot.y);
	same("under the pointer", (await page.locator("#tip").textContent()).split("\n")[1], "reader 60");
	// Where events are missing in the other one, and before this one begins.
	await page.evaluate(([from, to]) => setView(from, to), [12 * ROUND - later, 14 * ROUND - later]);
	await settled(page);
	const lost = new Set();
	for (let ns = 12 * ROUND - later + 40000; ns < 13 * ROUND - later + 15000; ns += 500)
		lost.add(await color(page, "CPU 0 of", ns, 25));
	same("the other's loss", lost.has(colors.loss), true);
	await page.evaluate(() => setView(-5000, 15000));
	await settled(page);
	same("before it begins", [(await seen(page)).from, await color(page, "CPU 0", -2000, 28), await color(page, "CPU 0 of", -2000, 28)],
		["-5000", colors.back, await page.evaluate(() => colorOf("<b>writer</b>"))]);
	spot = await place(page, "<i>shop", -2000);
	await page.mouse.click(spot.x, spot.y);
	await until(page, "that there is nothing", () => byId("message").textContent === "programs.fkt does not have that moment");
	if (pictures)
		await page.screenshot({ path: `${pictures}/both.png` });
	await page.evaluate(([from, to]) => setView(from, to), [SLOW - later, SLOW - later + ROUND]);
	await settled(page);
	spot = await place(page, row, at(5000));
	await page.mouse.click(spot.x, spot.y);
	await page.waitForURL("**/1/**");
	await settled(page);
	same("the same in the other's page", [await page.locator("#name").textContent(), (await seen(page)).from, (await seen(page)).to],
		["known.fkt", String(SLOW), String(SLOW + ROUND)]);
	// Another page: its script has run when it is loaded.
	await Promise.all([page.waitForURL(url => !url.pathname.includes("/1/")), page.locator("#traces").selectOption("0")]);
	await until(page, "back", () => trace && trace.name === "programs.fkt");
	await settled(page);
	same("and back", [(await seen(page)).from, (await seen(page)).to], [String(SLOW - later), String(SLOW - later + ROUND)]);
}

async function main() {
	const started = await browser.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"] });
	const context = await started.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
	const page = await context.newPage();
	context.on("page", one => one.on("pageerror", error => fail(`in another page: ${error}`)));
	page.on("console", message => {
		// What is read here, pixel by pixel, is not the page's doing.
		// An answer that says that a note can't be kept is one that is asked for.
		if (/error|warning/.test(message.type()) && !/status of 500/.test(message.text()) && !message.text().includes("willReadFrequently"))
			fail(`the console says: ${message.text()}`);
	});
	page.on("pageerror", error => fail(`the script fails: ${error.stack}`));
	page.on("request", request => {
		if (![address, programsAddress, bothAddress].some(one => request.url().startsWith(one)) && !request.url().startsWith("blob:"))
			fail(`it loads ${request.url()}`);
	});
	await page.goto(address);
	await settled(page);
	same("title", await page.title(), `${trace.split("/").pop()} - fkt_view`);
	if (pictures)
		await page.screenshot({ path: `${pictures}/first.png` });
	await page.locator("#enough").click();
	await checkPicture(page);
	await checkArrows(page);
	await checkWay(page);
	await checkMark(page);
	await checkQuery(page);
	await checkNotes(page);
	await checkFiles(page);
	await checkKeys(page);
	await checkAddresses(await context.newPage());
	await checkPrograms(await context.newPage());
	await checkSeveral(await context.newPage());
	if (pictures)
		await page.screenshot({ path: `${pictures}/last.png` });
	await started.close();
}

main().catch(error => fail(error.stack)).finally(() => process.exit(failed));
