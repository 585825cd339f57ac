// SPDX-License-Identifier: GPL-2.0-or-later
// The page of fkt_view. It asks the server for what is on the screen, and holds no more than that.
// Names from the trace become text, never markup: textContent and fillText alone.
"use strict";

/* ---- what is known ---- */

const CPU = 0x80000000, COUNTER = 0x40000000, BEFORE = 0xffffffff, UNKNOWN_TID = 0xffffffff;
const GONE = 1, BLOCKED = 3, READY = 4, RUNNING = 5, ERROR = 1, SOFTIRQ = 2, SAMPLE = 4;
const STATES = ["not known", "not there", "asleep", "blocked (D)", "ready, waits for a CPU", "running", "idle"];
const CELL_BYTES = 32, CPU_HEIGHT = 44, THREAD_HEIGHT = 30, RULER_HEIGHT = 30, CALL_HEIGHT = 13;
const MIN_SPAN_NS = 100, TABLE_ROWS = 400, ARROWS_MAX = 200, FEW_COUNTERS = 4, NEAR = 4, TIDS_MAX = 250, FEW_THREADS = 16, EVENTS_AT_ONCE = 2e7, KEEP_AGAIN_MS = 1000, NO_ANSWER_MS = 10000;

// Okabe and Ito's colours, which the colour-blind can tell; those of states and those of names.
const COLORS = {
	light: {
		back: "#ffffff", line: "#c9d0d6", text: "#14202b", faint: "#566370", running: "#0072b2", ready: "#e69f00",
		blocked: "#d55e00", sleeping: "#9aa5b0", unknown: "#e3e7eb", irq: "#b8a800", softirq: "#cc79a7", loss: "#d55e00",
		sample: "#7b3fa0", note: "#006b4f", mark: "#0072b233", cursor: "#14202b", events: "#7d8894", onName: "#0b1116",
		names: ["#8cc4e8", "#f2c879", "#7fcfb6", "#e7b3d0", "#f0e98a", "#9db8f2", "#e8a98a", "#b9d68c"],
	},
	dark: {
		back: "#11161b", line: "#36424d", text: "#e6ebf0", faint: "#a0adb9", running: "#56b4e9", ready: "#e69f00",
		blocked: "#e8743b", sleeping: "#65727f", unknown: "#29323a", irq: "#f0e442", softirq: "#cc79a7", loss: "#e8743b",
		sample: "#d0a2f0", note: "#4fd0a5", mark: "#56b4e933", cursor: "#e6ebf0", events: "#8794a0", onName: "#0b1116",
		names: ["#6fb2dd", "#dba94a", "#4fb795", "#cf8fb4", "#cfc553", "#7f9fe0", "#d68a66", "#97bb5f"],
	},
};

const byId = id => document.getElementById(id);
let trace = null;          // as /trace says
let threads = new Map();   // tid: {tid, tgid, kernel, run, comm}
let counters = [];         // of programs: [key, tgid, name]
let others = [];           // traces on the same line of time: {name, path, offset_ns, end_ns, by, cpus, threads, names, data}
let notes = [];            // on moments: [number, at, tid or -1, text]
let notesAbout = "";       // what else is to be said of them
let rows = [];             // what can be scrolled to: {kind, key, y, h, label, …}
let folded = new Set(["kernel", "counters"]);
let unfolded = false;      // the first time, where all threads are few
let broken = false;        // what there is to look at could not be had; what still comes of it changes nothing
let view = { from: 0, to: 1 };
let mark = null;           // {from, to}
let moment = null;         // {tid, at}
let chosen = null;         // tid of the chosen thread
let tab = "summary";
let data = null;           // the last picture
let flame = null;          // calls of the chosen thread: {tid, calls: [[depth, from, to, count, failed, name]], depth}
let names = new Map();     // numbers of names, as pictures have them
let filter = "";
let timeOfDay = false;
let theme = "light";
let tableRows = [];        // as the table shows them, for CSV
let asking = 0, wanted = false, drawn = false;
let askedSize = "";        // of the place of the last picture that was asked for

/* ---- texts ---- */

function digits(value) {
	return value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(2) : value.toFixed(3);
}

// 1,234,567. The browser's own way to write it loads its languages first, which takes as long as all else here.
function grouped(count) {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

// A length of time, in the unit that fits.
function length(ns) {
	const size = Math.abs(ns);
	if (size < 1e3)
		return `${Math.round(ns)} ns`;
	if (size < 1e6)
		return `${digits(ns / 1e3)} us`;
	if (size < 1e9)
		return `${digits(ns / 1e6)} ms`;
	return `${digits(ns / 1e9)} s`;
}

// A moment, with as many digits as a step of so many ns needs.
function when(ns, step = 1) {
	const places = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
	if (!timeOfDay || !trace || !trace.wall_s)
		return `${(ns / 1e9).toFixed(places)} s`;
	const sum = trace.wall_ns + ns, seconds = trace.wall_s + Math.floor(sum / 1e9);
	const part = String(Math.floor(((sum % 1e9) + 1e9) % 1e9)).padStart(9, "0").slice(0, places);
	return new Date(seconds * 1000).toTimeString().slice(0, 8) + (places ? "." + part : "");
}

function threadName(tid) {
	if (tid === UNKNOWN_TID)
		return "not known";
	if (tid === 0)
		return "idle";
	const thread = threads.get(tid);
	return `${thread ? thread.comm : "?"} ${tid}`;
}

function say(text) {
	byId("message").textContent = text;
	clearTimeout(say.timer);
	say.timer = setTimeout(() => { byId("message").textContent = ""; }, 4000);
}

/* ---- asking ---- */

async function ask(what, values, signal, body) {
	const query = values ? "?" + new URLSearchParams(values) : "";
	const answer = await fetch(what + query, body === undefined ? { signal } : { method: "POST", body });
	if (!answer.ok)
		throw new Error(await answer.text());
	return answer;
}

async function askFor(what, values) {
	return (await ask(what, values)).json();
}

function mapThreads(list) {
	return new Map(list.threads.map(([tid, tgid, kernel, run, comm]) => [tid, { tid, tgid, kernel: !!kernel, run, comm }]));
}

async function askTrace() {
	const [about, list] = await Promise.all([askFor("trace"), askFor("threads")]);
	trace = about;
	byId("name").textContent = trace.name;
	document.title = `${trace.name} - fkt_view`;
	const all = grouped(trace.events) + " events";
	byId("about").textContent = [trace.command, trace.release, length(trace.end_ns), all].filter(Boolean).join(" · ");
	const part = trace.end_ns ? Math.floor(100 * trace.made_ns / trace.end_ns) : 100;
	byId("progress").textContent = trace.error ? `could not read on: ${trace.error}`
		: trace.done ? "" : trace.growing ? "it is being recorded" : `reading: ${part} %`;
	const missing = [];
	if (trace.lost)
		missing.push(`${grouped(trace.lost)} events were lost`);
	if (trace.missing_pages)
		missing.push(`${grouped(trace.missing_pages)} pages are missing`);
	if (!trace.complete)
		missing.push("the trace has no end: it is being recorded, or was cut off");
	if (trace.marks_left)
		missing.push(`${grouped(trace.marks_left)} marks are seen in short spans alone`);
	if (!broken) {
		byId("losses").hidden = !missing.length;
		byId("losses").textContent = missing.join("; ") + (trace.lost ? ": hatched where that was" : "");
	}
	threads = mapThreads(list);
	counters = list.counters;
	if (trace.done && !unfolded && threads.size <= FEW_THREADS)
		folded.clear();
	unfolded = trace.done;
}

// Once more until all is read, less and less often.
async function follow(delay) {
	// One without an end may still grow.
	if (trace.done && trace.complete)
		return;
	setTimeout(async () => {
		const was = trace, whole = view.to >= trace.end_ns && view.from <= 0, end = view.to >= trace.end_ns;
		try {
			await askTrace();
			if (others.length)
				await askTraces();
			makeRows();
			// Who looks at the end, or at all of it, goes on to do so.
			if (trace.end_ns > was.end_ns && end)
				setView(whole ? 0 : view.from + trace.end_ns - was.end_ns, trace.end_ns);
			else if (trace.end_ns !== was.end_ns || trace.made_ns !== was.made_ns || !trace.done)
				await askPicture();
			if (trace.done && !was.done)
				showTable();
		} catch (error) {
			say(`The server does not answer: ${error.message}`);
			follow(NO_ANSWER_MS);
			return;
		}
		follow(Math.min(trace.growing ? 1000 : 2000, delay * 1.5));
	}, delay);
}

/* ---- other traces ---- */

async function askTraces() {
	await takeTraces(await askFor("traces"));
}

// Which there are, and those whose moments are known in this one's time.
async function takeTraces(answer) {
	const choice = byId("traces");
	choice.textContent = "";
	choice.hidden = answer.traces.length < 2;
	const were = others, are = [];
	for (const [i, one] of answer.traces.entries()) {
		const about = i === answer.own ? "" : one.empty ? " (empty)" : one.by === "nothing" ? " (from its own begin)"
			: ` (${length(Math.abs(one.offset_ns))} ${one.offset_ns < 0 ? "earlier" : "later"}, by ${one.by})`;
		choice.append(new Option(one.name + about, String(i), i === answer.own, i === answer.own));
		one.path = (answer.own ? "../" : "") + (i ? `${i}/` : "") || "./";
		if (i === answer.own || one.by === "nothing" || one.empty)
			continue;
		const [{ cpus }, list] = await Promise.all([askFor(`${one.path}trace`), askFor(`${one.path}threads`)]);
		const was = were.find(other => other.number === i && other.offset_ns === one.offset_ns);
		are.push({ ...one, number: i, cpus, threads: mapThreads(list), names: was ? was.names : new Map(), data: was ? was.data : null });
	}
	others = are;
	choice.onchange = () => leadToTrace(answer.traces[Number(choice.value)]);
}

// What is done as if the page were that trace's.
function within(other, act) {
	const was = [data, threads, names];
	if (other)
		[data, threads, names] = [other.data, other.threads, other.names];
	try {
		return act();
	} finally {
		[data, threads, names] = was;
	}
}

// To its page: where it is known, to what is seen here.
function leadToTrace(other) {
	const parts = new URLSearchParams({ tab });
	if (other.by !== "nothing" && view.to > other.offset_ns && view.from < other.offset_ns + other.end_ns) {
		parts.set("from", String(Math.round(view.from - other.offset_ns)));
		parts.set("to", String(Math.round(view.to - other.offset_ns)));
	}
	location.assign(`${other.path}#${parts}`);
}

async function askOther(other, from, to, bins) {
	const first = Math.max(0, Math.round(from - other.offset_ns)), end = Math.min(other.end_ns, Math.round(to - other.offset_ns));
	if (first >= end || !rows.some(row => row.of === other)) {
		other.data = null;
		return;
	}
	const width = Math.max(1, Math.round(bins * (end - first) / (to - from)));
	const buffer = await (await ask(`${other.path}picture`, { from: first, to: end, width, tids: "" })).arrayBuffer();
	within(other, () => { other.data = readPicture(buffer); });
	for (const key of ["from_ns", "made_ns", "sampled_ns"])
		other.data[key] += other.offset_ns;
	for (const loss of other.data.losses) {
		loss[1] += other.offset_ns;
		loss[2] += other.offset_ns;
	}
	for (const sample of other.data.samples)
		sample[0] += other.offset_ns;
}

function putOthers() {
	for (const other of others) {
		const closed = folded.has(`trace${other.number}`);
		rows.push({ kind: "group", key: null, group: `trace${other.number}`, h: THREAD_HEIGHT, label: `${other.name} (${other.cpus.length} CPUs)`, closed, of: other });
		if (!closed)
			for (const cpu of other.cpus)
				rows.push({ kind: "cpu", key: CPU + cpu, h: CPU_HEIGHT, label: `CPU ${cpu} of ${other.name}`, member: true, of: other });
	}
}

// Where the line of time begins and ends, of all traces.
function ends() {
	return { from: Math.min(0, ...others.map(one => one.offset_ns)), to: Math.max(trace.end_ns || 1, ...others.map(one => one.offset_ns + one.end_ns)) };
}

/* ---- rows ---- */

function matches(thread) {
	return !filter || thread.comm.toLowerCase().includes(filter) || String(thread.tid) === filter;
}

function counterName(name, tgid) {
	const thread = threads.get(tgid);
	return `${name.replace(/^app:/, "")} ${thread ? thread.comm : "?"} ${tgid}`;
}

function putCounters() {
	const shown = counters.map(([key, tgid, name]) => ({ kind: "counter", key, h: THREAD_HEIGHT, label: counterName(name, tgid) }));
	const few = filter ? shown.filter(row => row.label.toLowerCase().includes(filter)) : shown;
	const many = shown.length > FEW_COUNTERS && few.length === shown.length, closed = many && folded.has("counters");
	if (many)
		rows.push({ kind: "group", key: null, group: "counters", h: THREAD_HEIGHT, label: `counters (${shown.length})`, closed });
	if (!closed)
		for (const row of few.length ? few : shown)
			rows.push({ ...row, member: many });
}

function makeRows() {
	const groups = new Map();
	rows = [];
	for (const cpu of trace.cpus)
		rows.push({ kind: "cpu", key: CPU + cpu, h: CPU_HEIGHT, label: `CPU ${cpu}` });
	putOthers();
	putCounters();
	// A filter that nobody has is the name of an event.
	const any = [...threads.values()].some(matches);
	for (const thread of threads.values()) {
		if (any && !matches(thread) && thread.tid !== chosen)
			continue;
		const key = thread.kernel ? "kernel" : thread.tgid;
		if (!groups.has(key))
			groups.set(key, { key, run: 0, members: [] });
		groups.get(key).run += thread.run;
		groups.get(key).members.push(thread);
	}
	const sorted = [...groups.values()].sort((a, b) => (a.key === "kernel") - (b.key === "kernel") || b.run - a.run);
	for (const group of sorted) {
		const leader = group.members.find(one => one.tid === group.key) || group.members[0];
		const alone = group.members.length === 1;
		const closed = folded.has(group.key) && !(filter && any);
		if (!alone)
			rows.push({ kind: "group", key: group.key === "kernel" ? null : leader.tid, group: group.key, h: THREAD_HEIGHT, run: group.run,
				label: group.key === "kernel" ? `kernel threads (${group.members.length})`
					: `${leader.comm} ${group.key} (${group.members.length} threads)`, closed });
		if (alone || !closed)
			for (const thread of group.members)
				rows.push({ kind: "thread", key: thread.tid, h: THREAD_HEIGHT, run: thread.run, member: !alone,
					label: `${thread.comm} ${thread.tid}` });
		else if (chosen !== null && group.members.some(one => one.tid === chosen))
			rows.push({ kind: "thread", key: chosen, h: THREAD_HEIGHT, run: threads.get(chosen).run, member: true,
				label: threadName(chosen) });
	}
	let y = 0;
	for (const row of rows) {
		// The chosen thread has its calls below it.
		if (isThread(row) && row.key === chosen && flame && flame.tid === chosen)
			row.h += flame.depth * CALL_HEIGHT;
		row.y = y;
		y += row.h;
	}
	byId("labels").style.height = `${y}px`;
	showLabels();
}

// One that is a thread, or the first one of a process.
function isThread(row) {
	return row.key !== null && (row.kind === "thread" || row.kind === "group");
}

function visibleRows() {
	const top = byId("rows").scrollTop, height = byId("rows").clientHeight;
	return rows.filter(row => row.y + row.h > top && row.y < top + height);
}

function showLabels() {
	const labels = byId("labels"), had = document.activeElement && document.activeElement.dataset.row;
	labels.textContent = "";
	for (const row of visibleRows()) {
		const label = document.createElement("div");
		label.setAttribute("role", "listitem");
		label.style.top = `${row.y}px`;
		label.style.height = `${row.h}px`;
		label.className = (row.member ? "member " : "") + (row.key !== null && row.key === chosen ? "chosen" : "");
		if (row.kind === "group") {
			const fold = document.createElement("button");
			fold.className = "fold";
			fold.textContent = row.closed ? "▸" : "▾";
			fold.setAttribute("aria-label", row.closed ? "Show the threads" : "Hide the threads");
			fold.setAttribute("aria-expanded", String(!row.closed));
			fold.onclick = () => toggle(row.group);
			label.append(fold);
		}
		const name = document.createElement("button");
		name.className = "name";
		name.dataset.row = `${row.kind}${row.key}`;
		name.textContent = row.label;
		name.title = row.label;
		name.onclick = () => row.kind === "group" && row.key === null ? toggle(row.group)
			: isThread(row) ? choose(row.key) : null;
		label.append(name);
		if (row.run !== undefined) {
			const use = document.createElement("span");
			use.className = "use";
			use.textContent = length(row.run);
			use.title = "time on a CPU, of all the trace";
			label.append(use);
		}
		labels.append(label);
		if (had === name.dataset.row)
			name.focus({ preventScroll: true });
	}
}

function toggle(group) {
	if (!folded.delete(group))
		folded.add(group);
	makeRows();
	askPicture();
}

function choose(tid) {
	chosen = tid;
	makeRows();
	draw();
	askPicture();
	if (byId("only").checked)
		showTable();
}

/* ---- pictures ---- */

function width() {
	return Math.max(100, byId("rows").clientWidth - byId("labels").offsetWidth);
}

async function askPicture() {
	if (asking) {
		wanted = true;
		return;
	}
	asking = 1;
	try {
		do {
			wanted = false;
			await askOnce();
		} while (wanted);
	} catch (error) {
		say(error.message);
	}
	asking = 0;
}

async function askOnce() {
	if (trace.empty)
		return;
	const span = view.to - view.from, tids = [];
	askedSize = size();
	for (const row of visibleRows())
		if (row.kind !== "cpu" && row.key !== null && tids.length < TIDS_MAX)
			tids.push(row.key);
	if (chosen !== null && !tids.includes(chosen))
		tids.push(chosen);
	const from = Math.max(0, Math.min(trace.end_ns - 1, Math.round(view.from - span / 2))), to = Math.min(trace.end_ns, Math.round(view.to + span / 2));
	const bins = Math.min(8192, Math.max(1, Math.round(width() * (to - from) / span)));
	const begun = performance.now();
	const [answer] = await Promise.all([ask("picture", { from, to: Math.max(to, from + 1), width: bins, tids: tids.join(",") }),
		...others.map(one => askOther(one, view.from - span / 2, view.to + span / 2, Math.min(8192, Math.round(2 * width()))))]);
	const buffer = await answer.arrayBuffer();
	data = readPicture(buffer);
	if (chosen !== null)
		await askCalls(chosen, from, Math.max(to, from + 1), bins);
	document.body.dataset.answerMs = String(Math.round(performance.now() - begun));
	draw();
}

async function askCalls(tid, from, to, bins) {
	const answer = await askFor("calls", { from, to, width: bins, tids: String(tid) });
	const depth = answer.calls.reduce((most, [one]) => Math.max(most, one + 1), 0), was = flame;
	// What the thread's own line has, need not be below it again.
	flame = { tid, calls: answer.calls, depth: depth > 1 ? depth : 0 };
	if (!was || was.tid !== tid || was.depth !== flame.depth)
		makeRows();
}

// The cells stay as they came, some ten thousand of them: only one that is looked at becomes an object, see readCell().
function readPicture(buffer) {
	const bytes = new DataView(buffer).getUint32(0, true);
	const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, bytes)));
	const cells = new Uint32Array(buffer, 4 + bytes), words = CELL_BYTES / 4;
	head.cells = cells;
	head.small = new Uint8Array(buffer, 4 + bytes);
	head.floats = new Float32Array(buffer, 4 + bytes);
	// Where in these each track has the cell of what was before, or -1, and those of its bins.
	head.tracks = new Map();
	for (let at = 0, key = null, track; at < cells.length; at += words) {
		if (cells[at] !== key) {
			key = cells[at];
			track = head.tracks.get(key);
			if (!track)
				head.tracks.set(key, track = { before: -1, bins: [] });
		}
		if (cells[at + 1] === BEFORE)
			track.before = at;
		else
			track.bins.push(at);
	}
	// Numbers of names stay the same for as long as the server runs.
	for (const [number, name] of Object.entries(head.names))
		names.set(Number(number), name);
	return head;
}

function readCell(cell, key, at) {
	const { cells, small, floats } = data, byte = at * 4;
	cell.top = cells[at + 2];
	cell.inner = cells[at + 3];
	cell.last = cells[at + 4];
	cell.lastInner = cells[at + 5];
	for (let i = 0; i < 4; i++)
		cell.share[i] = small[byte + 24 + i];
	cell.state = small[byte + 28];
	cell.flags = small[byte + 29];
	cell.events = small[byte + 30];
	if (key >= COUNTER && key < CPU) {
		cell.least = floats[at + 2];
		cell.most = floats[at + 3];
		cell.value = BigInt.asIntN(64, BigInt(cell.lastInner) << 32n | BigInt(cell.last));
	}
}

// How a track stays behind a cell, for as long as there is no other: it becomes that.
function readStay(cell, key, at) {
	readCell(cell, key, at);
	const { state, lastInner, flags } = cell;
	if (key >= COUNTER && key < CPU) {
		cell.least = cell.most = Number(cell.value);
		return;
	}
	cell.share[0] = state === RUNNING ? 255 : 0;
	cell.share[1] = (key >= CPU ? lastInner && !(flags & SOFTIRQ) : state === READY) ? 255 : 0;
	cell.share[2] = (key >= CPU ? lastInner && flags & SOFTIRQ : state === BLOCKED) ? 255 : 0;
	cell.share[3] = state === 0 ? 255 : 0;
	cell.top = cell.last;
	cell.inner = lastInner;
	cell.flags = cell.events = 0;
}

// Call put(from_ns, to_ns, part) for each part of a track that is seen, in order. The part is the next one as soon as put() returns.
function eachPart(key, put) {
	const track = data.tracks.get(key), bin = data.bin_ns, part = { share: [0, 0, 0, 0] };
	if (!track)
		return;
	const first = (view.from - data.from_ns) / bin - 1, end = (view.to - data.from_ns) / bin + 1;
	// Of CPUs there is a sample behind what was read.
	const madeBin = ((key >= CPU ? data.sampled_ns : data.made_ns) - data.from_ns) / bin;
	const stay = (from, to, cell) => {
		if (cell < 0 || from >= to)
			return;
		readStay(part, key, cell);
		put(from, to, part);
	};
	let last = track.before, at = Math.max(0, first);
	for (const cell of track.bins) {
		const number = data.cells[cell + 1];
		if (number > end)
			break;
		if (number + 1 >= first) {
			stay(at, number, last);
			readCell(part, key, cell);
			put(number, number + 1, part);
			at = number + 1;
		}
		last = cell;
	}
	stay(at, Math.min(end, madeBin), last);
}

// The shares of a track, pixel by pixel.
function pixels(key, count) {
	const px = {
		share: [0, 1, 2, 3].map(() => new Float32Array(count)), top: new Uint32Array(count), inner: new Uint32Array(count),
		weight: new Float32Array(count), innerWeight: new Float32Array(count), state: new Uint8Array(count), seen: new Float32Array(count),
		flags: new Uint8Array(count), events: new Uint8Array(count),
	};
	const scale = count / (view.to - view.from), bin = data.bin_ns;
	eachPart(key, (a, b, part) => {
		const from = (data.from_ns + a * bin - view.from) * scale, to = (data.from_ns + b * bin - view.from) * scale;
		for (let x = Math.max(0, Math.floor(from)); x < Math.min(count, Math.ceil(to)); x++) {
			const over = Math.min(to, x + 1) - Math.max(from, x);
			if (over <= 0)
				continue;
			px.seen[x] += over;
			for (let i = 0; i < 4; i++)
				px.share[i][x] += over * part.share[i] / 255;
			const weight = over * (key >= CPU ? part.share[0] + 1 : 255);
			if (weight > px.weight[x] || (!px.top[x] && part.top)) {
				px.weight[x] = weight;
				px.top[x] = part.top;
			}
			if (part.inner && over > px.innerWeight[x]) {
				px.innerWeight[x] = over;
				px.inner[x] = part.inner;
			}
			px.state[x] = part.state;
			px.flags[x] |= part.flags;
			px.events[x] = Math.max(px.events[x], part.events);
		}
	});
	return px;
}

/* ---- drawing ---- */

function colors() {
	return COLORS[theme];
}

function colorOf(text) {
	let sum = 7;
	for (let i = 0; i < text.length; i++)
		sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
	return colors().names[sum % colors().names.length];
}

function hatch(context, color) {
	if (context.hatch)
		return context.hatch(color);
	const tile = document.createElement("canvas"), to = tile.getContext("2d");
	tile.width = tile.height = 8;
	to.strokeStyle = color;
	to.lineWidth = 2;
	to.beginPath();
	to.moveTo(-2, 10);
	to.lineTo(10, -2);
	to.moveTo(-2, 2);
	to.lineTo(2, -2);
	to.moveTo(6, 10);
	to.lineTo(10, 6);
	to.stroke();
	return context.createPattern(tile, "repeat");
}

function resize(canvas, wide, high) {
	const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
	if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
		canvas.width = Math.round(wide * ratio);
		canvas.height = Math.round(high * ratio);
		canvas.style.width = `${wide}px`;
		canvas.style.height = `${high}px`;
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

function xOf(ns) {
	return (ns - view.from) / (view.to - view.from) * width();
}

// Runs of pixels that look the same: put(from, to) for each.
function eachRun(count, same, put) {
	for (let from = 0, x = 1; x <= count; x++) {
		if (x < count && same(from, x))
			continue;
		put(from, x);
		from = x;
	}
}

function text(context, words, x, y, room, color) {
	if (room < 22 || !words)
		return;
	context.fillStyle = color;
	let shown = words;
	if (context.measureText(shown).width > room - 6) {
		const letters = Math.floor(words.length * (room - 6) / context.measureText(words).width) - 1;
		if (letters < 2)
			return;
		shown = words.slice(0, letters) + "…";
	}
	context.fillText(shown, x + 3, y);
}

function drawCpu(context, row, y, count) {
	const px = pixels(row.key, count), color = colors(), base = y + row.h - 9, high = row.h - 19;
	eachRun(count, (a, b) => px.top[a] === px.top[b] && Math.abs(px.share[0][a] - px.share[0][b]) < .02 &&
		px.share[0][a] > 0 === px.share[0][b] > 0, (a, b) => {
		const share = Math.min(1, px.share[0][a]);
		if (share <= 0)
			return;
		const tall = Math.max(1.5, share * high), thread = threads.get(px.top[a]);
		context.fillStyle = colorOf(thread ? thread.comm : String(px.top[a]));
		context.fillRect(a, base - tall, b - a, tall);
		if (share > .6)
			text(context, threadName(px.top[a]), a, base - high / 2 + 4, b - a, color.onName);
	});
	context.fillStyle = color.line;
	context.fillRect(0, base, count, 1);
	const irq = px.share[1], softirq = px.share[2], tall = share => share > 0 ? Math.max(1, Math.min(1, share) * 8) : 0;
	// Colour by colour, see drawThread().
	eachPixel(context, count, color.irq, x => irq[x] > 0, x => context.fillRect(x, y + 2, 1, tall(irq[x])));
	eachPixel(context, count, color.softirq, x => softirq[x] > 0, x => context.fillRect(x, y + 2 + tall(irq[x]), 1, tall(softirq[x])));
	eachPixel(context, count, color.unknown, x => px.share[3][x] > 0 && px.seen[x] > 0, x => context.fillRect(x, base - high, 1, high));
	eachPixel(context, count, color.events, x => px.events[x], x => {
		const size = px.events[x] / 255 * 14;
		context.fillRect(x, y + row.h - 1 - size, 1, Math.max(1, size));
	});
	drawSamples(context, px, base - 5, count);
}

function eachPixel(context, count, style, has, put) {
	context.fillStyle = style;
	for (let x = 0; x < count; x++)
		if (has(x))
			put(x);
}

function drawSamples(context, px, y, count) {
	eachPixel(context, count, colors().sample, x => px.flags[x] & SAMPLE, x => context.fillRect(x, y, 1, 5));
}

// A line through the values; from the least to the largest where there are several in a pixel.
function drawCounter(context, row, y, count) {
	const parts = [], color = colors(), base = y + row.h - 4, high = row.h - 9;
	let low = 0, top = 0;
	eachPart(row.key, (a, b, part) => {
		const from = Math.max(0, xOf(data.from_ns + a * data.bin_ns)), to = Math.min(count, xOf(data.from_ns + b * data.bin_ns));
		if (part.state !== RUNNING || from >= to)
			return;
		parts.push([from, to, { ...part }]);
		low = Math.min(low, part.least);
		top = Math.max(top, part.most);
	});
	const at = value => base - (top > low ? (value - low) / (top - low) : 0) * high;
	for (const [from, to, part] of parts) {
		context.fillStyle = color.unknown;
		context.fillRect(from, Math.min(at(part.most), at(0)), Math.max(1, to - from), Math.abs(at(part.most) - at(0)));
		context.fillStyle = color.sample;
		context.fillRect(from, at(part.most) - 1, Math.max(1, to - from), at(part.least) - at(part.most) + 2);
	}
	context.fillStyle = color.faint;
	if (parts.length)
		context.fillText(low < 0 ? `${shortNumber(low)} … ${shortNumber(top)}` : shortNumber(top), 3, y + 11);
}

function shortNumber(value) {
	return value.toLocaleString("en", { maximumSignificantDigits: 4, notation: Math.abs(value) >= 1e6 ? "compact" : "standard" });
}

function alike(shares, a, b) {
	return Math.abs(shares[a] - shares[b]) < .02 && shares[a] > 0 === shares[b] > 0;
}

function drawThread(context, row, y, count) {
	const px = pixels(row.key, count), color = colors(), base = y + 15, high = 12;
	const near = (a, b) => px.state[a] === px.state[b] && alike(px.share[0], a, b) && alike(px.share[1], a, b) &&
		alike(px.share[2], a, b) && alike(px.share[3], a, b);
	const runs = [], foot = new Float64Array(count).fill(base);
	eachRun(count, near, (a, b) => {
		if (px.seen[a] && (px.state[a] !== GONE || px.share[0][a] || px.share[1][a]))
			runs.push(a, b);
	});
	// Colour by colour: to change it takes longer than to draw.
	for (const unknown of [false, true]) {
		context.fillStyle = unknown ? color.unknown : color.sleeping;
		for (let i = 0; i < runs.length; i += 2)
			if (px.share[3][runs[i]] > .5 === unknown)
				context.fillRect(runs[i], base - (unknown ? high : 2), runs[i + 1] - runs[i], unknown ? high : 2);
	}
	for (let part = 0; part < 3; part++) {
		context.fillStyle = [color.running, color.ready, color.blocked][part];
		for (let i = 0; i < runs.length; i += 2) {
			const a = runs[i], share = px.share[part][a];
			if (share <= 0)
				continue;
			const tall = Math.max(2, Math.min(1, share) * high);
			context.fillRect(a, foot[a] - tall, runs[i + 1] - a, tall);
			foot[a] -= tall;
		}
	}
	eachRun(count, (a, b) => px.top[a] === px.top[b] && px.inner[a] === px.inner[b] && px.flags[a] === px.flags[b], (a, b) => {
		const name = names.get(px.top[a]), inner = names.get(px.inner[a]);
		if (name) {
			context.fillStyle = colorOf(name);
			context.fillRect(a, y + 17, b - a, 11);
			text(context, inner && inner !== name ? `${name} › ${inner}` : name, a, y + 26, b - a, color.onName);
		}
		if (px.flags[a] & ERROR) {
			context.fillStyle = color.blocked;
			context.fillRect(a, y + 26, b - a, 2);
		}
	});
	drawSamples(context, px, y, count);
}

// The calls of the chosen thread, each below its caller.
function drawCalls(context, y) {
	for (const [depth, from, to, count, failed, name] of flame.calls) {
		const a = Math.max(-2, xOf(from)), b = Math.min(width() + 2, Math.max(xOf(to), xOf(from) + 1)), at = y + THREAD_HEIGHT + depth * CALL_HEIGHT;
		if (b < 0 || a > width())
			continue;
		context.fillStyle = name ? colorOf(name) : colors().sleeping;
		context.fillRect(a, at, Math.max(1, b - a - .5), CALL_HEIGHT - 1);
		text(context, count > 1 ? `${count} calls${name ? ` of ${name}` : ""}` : name, Math.max(0, a), at + 10, b - Math.max(0, a), colors().onName);
		if (failed) {
			context.fillStyle = colors().blocked;
			context.fillRect(a, at + CALL_HEIGHT - 3, Math.max(1, b - a), 2);
		}
	}
}

function drawLosses(context, top, of) {
	const pattern = hatch(context, colors().loss), cpus = new Map(), lines = new Map();
	for (const row of visibleRows()) {
		if (row.kind === "cpu" && row.of === of)
			cpus.set(row.key, row);
		else if (!of && isThread(row))
			lines.set(row.key, row);
	}
	for (const [cpu, from, to, , , tid] of data.losses) {
		const row = cpus.get(CPU + cpu), thread = lines.get(tid);
		const a = xOf(from), b = Math.max(xOf(to), a + 3);
		if (b < 0 || a > width())
			continue;
		context.fillStyle = pattern;
		if (row)
			context.fillRect(a, row.y - top, b - a, row.h - 1);
		else if (cpu < 0)
			for (const one of rows.filter(one => one.of === of))
				context.fillRect(a, one.y - top, b - a, one.h);
		// Who ran there before the loss need not have gone on.
		if (thread) {
			context.clearRect(a, thread.y - top, b - a, thread.h - 1);
			context.fillRect(a, thread.y - top, b - a, thread.h - 1);
		}
	}
}

function drawWakes(context, top) {
	const seen = data.wakes.filter(([ns]) => ns >= view.from && ns <= view.to);
	const shown = seen.length <= ARROWS_MAX ? seen : seen.filter(([, , by, tid]) => tid === chosen || by === chosen);
	// A part of them would look as if there were no others.
	if (shown.length > ARROWS_MAX || data.all_wakes > data.wakes.length)
		return;
	context.strokeStyle = context.fillStyle = colors().text;
	context.lineWidth = 1;
	for (const [ns, cpu, by, tid] of shown) {
		const to = rows.find(one => one.kind === "thread" && one.key === tid);
		const from = rows.find(one => one.kind === "thread" && one.key === by) || rows.find(one => one.key === CPU + cpu && !one.of);
		if (!to || !from)
			continue;
		const x = xOf(ns), a = from.y - top + (from.kind === "cpu" ? from.h / 2 : 14), b = to.y - top + (from.y < to.y ? 4 : 15), turn = a < b ? -4 : 4;
		context.globalAlpha = tid === chosen ? 1 : .45;
		context.beginPath();
		context.moveTo(x, a);
		context.lineTo(x, b);
		context.moveTo(x - 3, b + turn);
		context.lineTo(x, b);
		context.lineTo(x + 3, b + turn);
		context.stroke();
	}
	context.globalAlpha = 1;
}

// Where marks and triggers are; their texts stand in the time scale.
function drawMarks(context, high) {
	context.strokeStyle = colors().blocked;
	context.lineWidth = 1;
	context.setLineDash([2, 4]);
	context.beginPath();
	for (const [ns] of data.marks) {
		context.moveTo(Math.round(xOf(ns)) + .5, 0);
		context.lineTo(Math.round(xOf(ns)) + .5, high);
	}
	context.stroke();
	context.setLineDash([]);
}

function drawOver(context, high) {
	const color = colors();
	if (mark) {
		context.fillStyle = color.mark;
		context.fillRect(xOf(mark.from), 0, Math.max(1, xOf(mark.to) - xOf(mark.from)), high);
	}
	if (moment) {
		context.fillStyle = color.cursor;
		context.fillRect(Math.round(xOf(moment.at)), 0, 1, high);
	}
}

function tickStep(span, wide) {
	const least = span / (wide / 110);
	let step = 10 ** Math.ceil(Math.log10(least));
	if (step / 5 >= least)
		step /= 5;
	else if (step / 2 >= least)
		step /= 2;
	return Math.max(1, step);
}

function drawRuler() {
	const wide = width(), context = resize(byId("ruler"), wide, RULER_HEIGHT);
	context.clearRect(0, 0, wide, RULER_HEIGHT);
	paintRuler(context, wide);
	byId("shown").textContent = `${length(view.to - view.from)} are shown`;
}

function paintRuler(context, wide) {
	const span = view.to - view.from, step = tickStep(span, wide), color = colors();
	context.font = "11px system-ui, sans-serif";
	for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
		context.fillStyle = color.faint;
		context.fillRect(xOf(at), RULER_HEIGHT - 8, 1, 8);
		context.fillStyle = color.text;
		context.fillText(when(at, step), xOf(at) + 3, 13);
	}
	if (data)
		data.marks.forEach(([ns, , name], i) => {
			// Up to the next one; under the pointer there is all of it.
			const x = xOf(ns), room = i + 1 < data.marks.length ? xOf(data.marks[i + 1][0]) - x - 4 : wide;
			context.fillStyle = color.blocked;
			context.fillRect(x - 1, 0, 3, RULER_HEIGHT);
			text(context, name, x + 1, RULER_HEIGHT - 4, room, color.blocked);
		});
	for (const [, at, , words] of notes) {
		context.fillStyle = color.note;
		context.fillRect(xOf(at) - 1, 0, 3, RULER_HEIGHT);
		text(context, words, xOf(at) + 1, RULER_HEIGHT - 4, 160, color.note);
	}
	drawOver(context, RULER_HEIGHT);
}

function paint(context, wide, high, top) {
	context.fillStyle = colors().back;
	context.fillRect(0, 0, wide, high);
	context.font = "11px system-ui, sans-serif";
	for (const row of visibleRows()) {
		const y = row.y - top;
		context.fillStyle = colors().line;
		context.fillRect(0, y + row.h - 1, wide, 1);
		if (row.kind === "cpu")
			within(row.of, () => data && drawCpu(context, row, y, wide));
		else if (row.kind === "counter")
			drawCounter(context, row, y, wide);
		else if (row.key !== null)
			drawThread(context, row, y, wide);
		if (row.h > THREAD_HEIGHT && isThread(row) && flame)
			drawCalls(context, y);
	}
	const end = xOf(Math.min(data.made_ns, trace.end_ns));
	if (end < wide && !trace.done) {
		const begin = Math.max(0, end), from = rows.filter(row => row.kind === "cpu" || row.of).reduce((sum, row) => sum + row.h, 0) - top;
		context.fillStyle = colors().unknown;
		context.fillRect(begin, from, wide, high);
		context.fillStyle = colors().faint;
		context.fillRect(begin, 0, 1, high);
		text(context, "not read yet; of CPUs, a sample", begin, from + 14, wide - begin, colors().faint);
	}
	drawLosses(context, top);
	for (const other of others)
		within(other, () => data && drawLosses(context, top, other));
	if (data.exact)
		drawWakes(context, top);
	drawMarks(context, high);
	drawOver(context, high);
}

function draw() {
	const box = byId("rows"), wide = Math.floor(width()), high = box.clientHeight;
	const context = resize(byId("canvas"), wide, high);
	drawRuler();
	if (!data) {
		context.clearRect(0, 0, wide, high);
		text(context, trace && trace.empty ? "The trace has no event." : "", 10, 30, wide, colors().text);
		return;
	}
	paint(context, wide, high, box.scrollTop);
	byId("canvas").setAttribute("aria-label", `From ${when(view.from)} on, ${length(view.to - view.from)}: ` +
		visibleRows().map(row => row.label).join(", "));
	if (!drawn) {
		drawn = true;
		document.body.dataset.firstPictureMs = String(Math.round(performance.now()));
	}
}

// What the colours mean, beside a spot of each.
function showLegend() {
	const color = colors(), legend = byId("legend");
	legend.textContent = "";
	for (const [name, words] of [["running", "running"], ["ready", "ready: waits for a CPU"], ["blocked", "blocked (D), or an error"],
		["sleeping", "asleep"], ["irq", "interrupt"], ["softirq", "softirq"], ["sample", "sample, counter"], ["events", "number of events"], ["unknown", "not known"], ["loss", "events lost"]]) {
		const item = document.createElement("span"), spot = document.createElement("canvas"), context = spot.getContext("2d");
		spot.width = 14;
		spot.height = 10;
		spot.setAttribute("aria-hidden", "true");
		context.fillStyle = name === "loss" ? hatch(context, color.loss) : color[name];
		context.fillRect(0, name === "sleeping" ? 7 : 0, 14, name === "sleeping" ? 2 : 10);
		item.append(spot, words);
		legend.append(item);
	}
}

/* ---- moving ---- */

function setView(from, to, push) {
	// A key, or the wheel, may be faster than the server.
	if (!trace)
		return;
	const all = ends(), span = Math.max(MIN_SPAN_NS, Math.min(to - from, all.to - all.from));
	from = Math.max(all.from, Math.min(from, all.to - span));
	view = { from, to: from + span };
	keep(push);
	// It is on its way while what is there is drawn anew. Nothing is not: the browser would show that first.
	askPicture();
	if (data || trace.empty)
		draw();
}

function zoomAt(ns, by) {
	const span = Math.max(MIN_SPAN_NS, (view.to - view.from) * by), part = (ns - view.from) / (view.to - view.from);
	setView(ns - part * span, ns - part * span + span);
}

function pan(part) {
	const by = part * (view.to - view.from);
	setView(view.from + by, view.to + by);
}

function center() {
	const middle = Math.max(0, Math.min(trace.end_ns, (view.from + view.to) / 2));
	return moment && moment.at >= view.from && moment.at <= view.to ? moment.at : middle;
}

// Where a moment is seen well: not closer than it is now.
function goTo(ns, span) {
	const wide = Math.min(view.to - view.from, span || Infinity);
	setView(ns - wide / 2, ns + wide / 2, true);
}

function showRow(tid) {
	const row = rows.find(one => isThread(one) && one.key === tid), box = byId("rows");
	if (row && (row.y < box.scrollTop || row.y + row.h > box.scrollTop + box.clientHeight))
		box.scrollTop = row.y - box.clientHeight / 2;
}

/* ---- the address ---- */

function hash() {
	const parts = { from: Math.round(view.from), to: Math.round(view.to), tab };
	// Of one that grows, to its end, wherever that is then.
	if (!trace.complete && parts.to === trace.end_ns)
		delete parts.to;
	if (mark)
		parts.mark = `${Math.round(mark.from)}..${Math.round(mark.to)}`;
	if (moment)
		parts.at = Math.round(moment.at);
	if (chosen !== null)
		parts.thread = chosen;
	return "#" + new URLSearchParams(parts);
}

// The address has what is seen; what one jumps to can be gone back from.
function keep(push) {
	const now = hash();
	clearTimeout(keep.timer);
	if (now === location.hash)
		return;
	try {
		if (push)
			history.pushState(null, "", now);
		else
			history.replaceState(null, "", now);
	} catch {
		// Some browsers take no more than so many in some seconds: the last one is to be there in the end.
		keep.timer = setTimeout(() => keep(push), KEEP_AGAIN_MS);
	}
}

function number(words) {
	return /^-?\d{1,16}$/.test(words || "") ? Number(words) : null;
}

function natural(words) {
	const value = number(words);
	return value >= 0 ? value : null;
}

function restore() {
	const parts = new URLSearchParams(location.hash.slice(1));
	// What is seen may begin before the trace does, where another one did; all else is in it.
	const from = number(parts.get("from")), to = parts.has("to") ? number(parts.get("to")) : trace.end_ns, at = natural(parts.get("at"));
	const ends = (parts.get("mark") || "").split("..").map(natural), thread = natural(parts.get("thread"));
	// A number that no thread can have would be refused, and every picture with it.
	chosen = thread !== null && thread < COUNTER ? thread : null;
	mark = ends.length === 2 && ends[0] !== null && ends[1] > ends[0] ? { from: ends[0], to: ends[1] } : null;
	if (TABS.some(([name]) => name === parts.get("tab")))
		tab = parts.get("tab");
	view = from !== null && to > from ? { from, to } : { from: 0, to: trace.end_ns || 1 };
	moment = null;
	byId("moment").hidden = true;
	makeRows();
	// Before the picture, whose place is what these leave.
	showMark();
	showTable();
	setView(view.from, view.to);
	if (at !== null && chosen !== null)
		askMoment(chosen, at);
}

/* ---- the marked span ---- */

function setMark(a, b, push) {
	mark = a === null ? null : { from: Math.max(0, Math.min(a, b)), to: Math.min(trace.end_ns, Math.max(a, b)) };
	if (mark && mark.to - mark.from < 1)
		mark = null;
	showMark();
	keep(push);
	draw();
	showTable();
}

function span() {
	return mark ? { from: Math.round(mark.from), to: Math.max(Math.round(mark.to), Math.round(mark.from) + 1) }
		: { from: 0, to: Math.max(1, trace.end_ns) };
}

function showMark() {
	const { from, to } = span();
	byId("marked").textContent = mark ? `Marked: ${length(to - from)}, from ${when(from)} to ${when(to)}` : "Nothing is marked: the whole trace";
	byId("marked").dataset.ns = String(to - from);
	byId("zoom").disabled = byId("clear").disabled = !mark;
	byId("save").href = `part?from=${from}&to=${to}`;
	byId("perfetto").href = `part?as=perfetto&from=${from}&to=${to}`;
	byId("flame").href = `part?as=flame&from=${from}&to=${to}`;
}

/* ---- tables ---- */

const TABS = [["summary", "Summary"], ["waits", "Waits"], ["by", "By function"], ["spans", "Calls"], ["calls", "Who calls what"],
	["noise", "Noise"], ["profile", "Samples"], ["events", "Events"], ["sql", "SQL"], ["notes", "Notes"]];
// What a table may be asked for besides: the field beside it.
const PICKS = { by: "by the fields", spans: "that took (such as 10us)", events: "with the name" };
const TITLES = { rows: "Where the time went", processes: "Threads", trace: "The span", waits: "Why threads did not run", by: "By function",
	spans: "Calls", profile: "Samples by function", profile_processes: "Samples by process", query: "Rows", events: "Events", error: "", cut: "" };

// Columns of SQL's tables that are moments; and what one may begin with.
const MOMENTS = /^(time|begin|end|woken|parent_begin|at|first|last)$/;
const EXAMPLES = [
	["the slowest calls", "SELECT * FROM slowest_calls LIMIT 20"],
	["what threads slept in", "SELECT * FROM off_cpu LIMIT 20"],
	["calls in the marked span", "SELECT begin, elapsed, tid, process, name, result\nFROM calls\nWHERE begin >= {from} AND begin < {to}\nORDER BY elapsed DESC\nLIMIT 100"],
	["events of a name, by thread", "SELECT tid, process, count(*) AS count\nFROM events\nWHERE name = 'wakeup'\nGROUP BY tid\nORDER BY count DESC"],
	["tables and columns", "SELECT m.name, group_concat(c.name, ', ') AS columns\nFROM temp.sqlite_schema m, pragma_table_info(m.name, 'temp') c\nGROUP BY m.name"],
];

// "10us" as people write it; what is none is an error that is shown.
function nanoseconds(words) {
	const parts = /^(\d+(?:\.\d+)?)\s*(ns|us|ms|s|)$/.exec(words);
	if (!parts)
		throw new Error(`${words} is no time: such as 10us, or 1.5ms`);
	return Math.round(Number(parts[1]) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9, "": 1e9 }[parts[2]]);
}

function showTabs() {
	if (byId("pick").dataset.of !== tab)
		byId("pick").value = "";
	byId("pick").dataset.of = tab;
	byId("pick-label").hidden = !PICKS[tab];
	byId("pick-about").textContent = PICKS[tab] || "";
	byId("tabs").textContent = "";
	for (const [name, words] of TABS) {
		const button = document.createElement("button");
		button.type = "button";
		button.setAttribute("role", "tab");
		button.setAttribute("aria-selected", String(name === tab));
		button.tabIndex = name === tab ? 0 : -1;
		button.dataset.tab = name;
		button.textContent = words;
		button.onclick = () => { tab = name; keep(); showTable(); };
		button.onkeydown = event => {
			const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
			if (!step)
				return;
			event.stopPropagation();
			tab = TABS[(TABS.findIndex(([one]) => one === tab) + step + TABS.length) % TABS.length][0];
			showTable();
			document.querySelector("[role=tab][aria-selected=true]").focus();
		};
		byId("tabs").append(button);
	}
}

/* ---- SQL ---- */

// Numbers that JavaScript would round stay as they are written.
function parseRow(line) {
	return JSON.parse(line.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, part => part[0] === '"' ? part : `"${part}"`));
}

// The field for a statement; what it gave is below it.
function putQuery(panel) {
	const form = document.createElement("form"), sql = document.createElement("textarea"), examples = document.createElement("select");
	const run = document.createElement("button"), about = document.createElement("p"), result = document.createElement("div");
	form.id = "query";
	sql.id = "sql";
	sql.rows = 4;
	sql.spellcheck = false;
	sql.maxLength = 4000;
	sql.value = stored("sql") || EXAMPLES[0][1];
	sql.setAttribute("aria-label", "A SELECT over the trace");
	examples.setAttribute("aria-label", "Examples");
	for (const [words] of [["Examples"], ...EXAMPLES])
		examples.append(new Option(words));
	examples.onchange = () => {
		if (examples.selectedIndex)
			sql.value = EXAMPLES[examples.selectedIndex - 1][1];
		examples.selectedIndex = 0;
	};
	run.textContent = "Run (Ctrl+Enter)";
	about.textContent = "One SELECT, as of fkt_query(1). {from} and {to} are the ends of the marked span; a click on a time leads to it.";
	result.id = "result";
	sql.onkeydown = event => {
		if (event.key === "Enter" && event.ctrlKey)
			form.requestSubmit();
	};
	form.onsubmit = event => { event.preventDefault(); runQuery(sql.value, result); };
	form.append(sql, run, examples, about);
	panel.replaceChildren(form, result);
}

async function runQuery(words, result) {
	const asked = showTable.asked, { from, to } = span(), panel = byId("table");
	if (showTable.stop)
		showTable.stop.abort();
	showTable.stop = new AbortController();
	const signal = showTable.stop.signal;
	stored("sql", words);
	tableRows = [];
	panel.setAttribute("aria-busy", "true");
	result.textContent = "Asking …";
	try {
		const sql = words.replaceAll("{from}", String(from)).replaceAll("{to}", String(to));
		const lines = (await (await ask("query", { sql }, signal)).text()).split("\n").filter(Boolean).map(parseRow);
		if (asked !== showTable.asked || signal.aborted)
			return;
		const list = lines.filter(line => line.row).map(line => line.row);
		tableRows = list;
		result.textContent = "";
		for (const line of lines.filter(one => !one.row))
			putTable(result, line.table, [line]);
		if (list.length)
			putTable(result, "query", list);
		else if (!lines.length)
			result.textContent = "No rows";
	} catch (error) {
		if (asked === showTable.asked && !signal.aborted)
			result.textContent = error.message;
	}
	if (asked === showTable.asked && !signal.aborted)
		panel.removeAttribute("aria-busy");
}

/* ---- notes on moments ---- */

function takeNotes(answer) {
	notes = answer.notes;
	const about = [];
	if (answer.others)
		about.push(`${answer.others} notes there are of another trace`);
	if (answer.bad)
		about.push(`${answer.bad} lines are no notes`);
	if (answer.cut)
		about.push("there are more than are read");
	notesAbout = about.join("; ");
	if (drawn)
		draw();
	if (tab === "notes")
		showTable();
}

async function changeNotes(values, words) {
	try {
		takeNotes(await (await ask("note", values, undefined, words)).json());
		return true;
	} catch (error) {
		say(`The notes, ${trace.name}.notes, are as they were: ${error.message}`);
		return false;
	}
}

function putNotes(panel) {
	const form = document.createElement("form"), words = document.createElement("input"), add = document.createElement("button");
	const about = document.createElement("p"), table = document.createElement("table"), body = table.createTBody(), of = moment ? moment.tid : chosen;
	const at = Math.round(center());
	form.id = "add-note";
	words.id = "note";
	words.type = "search";
	words.maxLength = 500;
	words.autocomplete = "off";
	words.placeholder = `A note on ${when(at)}${of ? `, ${threadName(of)}` : ""}`;
	words.setAttribute("aria-label", words.placeholder);
	add.textContent = "Add";
	form.onsubmit = async event => {
		event.preventDefault();
		if (words.value.trim() && await changeNotes({ from: at, tids: of ? String(of) : "" }, words.value.trim()))
			say("Noted");
	};
	about.id = "notes-about";
	about.textContent = [`Kept in ${trace.name}.notes, beside the trace.`, notesAbout].filter(Boolean).join(" ");
	table.dataset.table = "notes";
	for (const [number, ns, tid, said] of notes) {
		const line = body.insertRow();
		line.insertCell().append(link(when(ns), () => leadTo({ tid }, ns)));
		line.insertCell().textContent = tid > 0 ? threadName(tid) : "";
		line.insertCell().textContent = said;
		line.insertCell().append(link("Remove", () => changeNotes({ remove: String(number) }, "")));
	}
	form.append(words, add);
	panel.replaceChildren(form, about, table);
}

// The field for a note on the moment that was clicked.
function beginNote() {
	tab = "notes";
	keep();
	showTable();
	byId("note").focus();
}

/* ---- tables of a span ---- */

async function showTable(anyway) {
	showTabs();
	// What was asked in SQL stays, whatever is marked.
	if (tab === "sql" && byId("query"))
		return;
	const asked = showTable.asked = (showTable.asked || 0) + 1, panel = byId("table");
	if (showTable.stop)
		showTable.stop.abort();
	panel.removeAttribute("aria-busy");
	if (trace.empty)
		return;
	if (tab === "sql" || tab === "notes") {
		(tab === "sql" ? putQuery : putNotes)(panel);
		return;
	}
	// All of a large trace takes a while, and the time of who wants to look at a part of it.
	if (!mark && !(trace.done && trace.events < EVENTS_AT_ONCE) && anyway !== true) {
		panel.textContent = trace.done ? "Mark a span, or " : "The trace is being read. Mark a span, or ";
		panel.append(link("sum up the whole trace", () => showTable(true)));
		return;
	}
	showTable.stop = new AbortController();
	const signal = showTable.stop.signal;
	panel.setAttribute("aria-busy", "true");
	const patience = setTimeout(() => { panel.textContent = "Summing up …"; }, 400);
	try {
		const { from, to } = span(), values = { table: tab, from, to };
		const pick = byId("pick").value.trim();
		if (pick && tab === "spans") {
			values.longer = String(nanoseconds(pick));
		} else if (pick && PICKS[tab]) {
			values.text = pick;
		}
		if (byId("only").checked && chosen !== null)
			values.tids = String(chosen);
		const lines = (await (await ask("table", values, signal)).text()).split("\n").filter(Boolean);
		if (asked !== showTable.asked)
			return;
		clearTimeout(patience);
		tableRows = lines.map(line => JSON.parse(line));
		panel.textContent = "";
		const groups = new Map();
		for (const row of tableRows) {
			const name = row.table.replace(/_total$/, "");
			if (!groups.has(name))
				groups.set(name, []);
			groups.get(name).push(row);
		}
		for (const [name, list] of groups)
			putTable(panel, name, list);
	} catch (error) {
		if (asked === showTable.asked)
			panel.textContent = error.message;
	}
	clearTimeout(patience);
	if (asked === showTable.asked)
		panel.removeAttribute("aria-busy");
}

// A value as people read it.
function shownValue(column, value) {
	if (value === null || value === undefined)
		return "";
	if (/(^|_)ns$/.test(column))
		return /^(begin|end|time|at)_ns$/.test(column) ? when(value) : length(value);
	if (typeof value === "object")
		return Object.entries(value).map(([name, one]) => `${name}=${typeof one === "object" ? JSON.stringify(one) : one}`).join(" ");
	return String(value);
}

function columnsOf(name, list) {
	if (name === "query")
		return Object.keys(list[0]);
	const columns = new Set();
	for (const row of list.slice(0, 1000))
		for (const column of Object.keys(row))
			if (column !== "table" && !/_cycles$|_stamp$|^stamp$/.test(column))
				columns.add(column);
	return [...columns].filter(column => list.some(row => row[column] !== null && row[column] !== undefined && row[column] !== ""));
}

function title(column) {
	return column.replace(/_ns$/, "").replace(/_/g, " ");
}

function momentOf(row) {
	for (const column of ["begin_ns", "time_ns", "at_ns", "longest_ns"])
		if (typeof row[column] === "number")
			return row[column];
	return null;
}

function lead(row) {
	const at = momentOf(row);
	if (at === null)
		return;
	goTo(at, row.duration_ns ? row.duration_ns * 20 : undefined);
	if (typeof row.tid === "number" && row.tid > 0)
		askMoment(row.tid, at, true);
}

// From a cell of a query: to its moment, and what its thread was at.
function leadTo(row, at) {
	goTo(at, typeof row.elapsed === "number" && row.elapsed > 0 ? row.elapsed * 20 : undefined);
	if (typeof row.tid === "number" && row.tid > 0)
		askMoment(row.tid, at, true);
	else
		pointAt(at);
}

function putTable(panel, name, list) {
	const heading = document.createElement("h3"), table = document.createElement("table");
	if (name === "error" || name === "cut") {
		heading.textContent = name === "cut" ? "There is more: mark a shorter span, or ask for less." : list[0].text;
		panel.append(heading);
		return;
	}
	heading.textContent = TITLES[name] || name;
	table.dataset.table = name;
	const columns = columnsOf(name, list), head = table.createTHead().insertRow(), body = table.createTBody();
	let order = null, down = true, shown = TABLE_ROWS;
	const isNumber = column => list.some(row => typeof row[column] === "number") && !/^(tid|code|cpu)$/.test(column);
	const fill = () => {
		body.textContent = "";
		const sorted = order === null ? list : [...list].sort((a, b) => {
			const one = a[order], other = b[order];
			const less = one === other ? 0 : one === null || one === undefined ? 1 : other === null || other === undefined ? -1
				: typeof one === "number" && typeof other === "number" ? one - other : String(one) < String(other) ? -1 : 1;
			return down ? -less : less;
		});
		for (const row of sorted.slice(0, shown)) {
			const line = body.insertRow();
			for (const column of columns) {
				const cell = line.insertCell();
				cell.textContent = name === "query" ? String(row[column] ?? "") : shownValue(column, row[column]);
				cell.dataset.column = column;
				cell.dataset.value = row[column] === null || row[column] === undefined ? "" : typeof row[column] === "object" ? JSON.stringify(row[column]) : String(row[column]);
				cell.title = /_ns$/.test(column) && row[column] !== null && row[column] !== undefined ? `${row[column]} ns` : cell.textContent;
				if (isNumber(column))
					cell.className = "number";
				if (name === "query" && MOMENTS.test(column) && typeof row[column] === "number")
					cell.replaceChildren(link(String(row[column]), () => leadTo(row, row[column])));
			}
			if (name === "query")
				continue;
			if (momentOf(row) !== null || (typeof row.tid === "number" && row.tid > 0)) {
				line.className = "leads";
				line.tabIndex = 0;
				line.onclick = () => momentOf(row) !== null ? lead(row) : (choose(row.tid), showRow(row.tid));
				line.onkeydown = event => { if (event.key === "Enter") line.onclick(); };
			}
		}
		if (sorted.length > shown) {
			const more = document.createElement("button");
			more.textContent = `${sorted.length - shown} more rows`;
			more.onclick = () => { shown += 10 * TABLE_ROWS; fill(); };
			body.insertRow().insertCell().append(more);
		}
	};
	for (const column of columns) {
		const cell = document.createElement("th"), button = document.createElement("button");
		cell.scope = "col";
		cell.className = isNumber(column) ? "number" : "";
		button.type = "button";
		button.textContent = name === "query" ? column : title(column);
		button.onclick = () => {
			down = order === column ? !down : isNumber(column);
			order = column;
			for (const other of head.cells)
				other.removeAttribute("aria-sort");
			cell.setAttribute("aria-sort", down ? "descending" : "ascending");
			fill();
		};
		cell.append(button);
		head.append(cell);
	}
	fill();
	panel.append(heading, table);
}

function download(blob, name) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveCsv() {
	const lines = [], quote = value => {
		let words = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
		return /[",\n\r]/.test(words) ? `"${words.replace(/"/g, '""')}"` : words;
	};
	let columns = "";
	for (const row of tableRows) {
		const keys = Object.keys(row).filter(key => key !== "table" || tab === "sql");
		if (keys.join() !== columns) {
			columns = keys.join();
			lines.push((lines.length ? "\n" : "") + keys.map(quote).join(","));
		}
		lines.push(keys.map(key => quote(row[key])).join(","));
	}
	download(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }), `${tab}.csv`);
}

function paintLabels(context, side, top) {
	context.font = "12px system-ui, sans-serif";
	text(context, trace.name, 0, 18, side, colors().text);
	for (const row of visibleRows())
		text(context, row.label, row.member ? 16 : 4, RULER_HEIGHT + row.y - top + Math.min(row.h, CPU_HEIGHT) / 2 + 4, side - 16, colors().text);
}

// As much of a canvas's context as is drawn with here, which makes a drawing of it.
class Drawing {
	fillStyle = "#000";
	strokeStyle = "#000";
	lineWidth = 1;
	globalAlpha = 1;
	#font = "11px sans-serif";
	#dash = "";
	#path = "";
	#measure = document.createElement("canvas").getContext("2d");
	#hatches = new Map();

	constructor(wide, high) {
		this.root = this.into = this.#put(null, "svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}` });
	}
	// What is drawn from now on is in a part of it, and nothing of it outside of that.
	within(x, y, wide, high) {
		this.into = this.#put(this.root, "svg", { x, y, width: wide, height: high });
	}
	#put(parent, name, values) {
		const one = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const [key, value] of Object.entries(values))
			one.setAttribute(key, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
		if (parent)
			parent.append(one);
		return one;
	}
	// "#rrggbbaa" is not understood everywhere.
	#paint(key, style) {
		const alpha = /^#.{8}$/.test(style) ? parseInt(style.slice(7), 16) / 255 : 1;
		return { [key]: alpha < 1 ? style.slice(0, 7) : style, ...alpha * this.globalAlpha < 1 && { [`${key}-opacity`]: alpha * this.globalAlpha } };
	}
	get font() {
		return this.#font;
	}
	set font(font) {
		this.#font = this.#measure.font = font;
	}
	measureText(words) {
		return this.#measure.measureText(words);
	}
	fillRect(x, y, wide, high) {
		this.#put(this.into, "rect", { x, y, width: Math.max(0, wide), height: Math.max(0, high), ...this.#paint("fill", this.fillStyle) });
	}
	clearRect(x, y, wide, high) {
		this.#put(this.into, "rect", { x, y, width: wide, height: high, fill: colors().back });
	}
	fillText(words, x, y) {
		const [size, family] = /^(\S+)px (.*)$/.exec(this.#font).slice(1);
		this.#put(this.into, "text", { x, y, "font-size": size, "font-family": family, ...this.#paint("fill", this.fillStyle) }).textContent = words;
	}
	beginPath() {
		this.#path = "";
	}
	moveTo(x, y) {
		this.#path += `M${x.toFixed(2)} ${y.toFixed(2)}`;
	}
	lineTo(x, y) {
		this.#path += `L${x.toFixed(2)} ${y.toFixed(2)}`;
	}
	setLineDash(dash) {
		this.#dash = dash.join(" ");
	}
	stroke() {
		if (this.#path)
			this.#put(this.into, "path", { d: this.#path, fill: "none", "stroke-width": this.lineWidth, ...this.#paint("stroke", this.strokeStyle),
				...this.#dash && { "stroke-dasharray": this.#dash } });
	}
	hatch(color) {
		if (!this.#hatches.has(color)) {
			const id = `hatch${this.#hatches.size}`;
			const tile = this.#put(this.root, "pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" });
			this.#put(tile, "path", { d: "M-2 10L10 -2M-2 2L2 -2M6 10L10 6", stroke: color, "stroke-width": 2 });
			this.#hatches.set(color, `url(#${id})`);
		}
		return this.#hatches.get(color);
	}
	toString() {
		return new XMLSerializer().serializeToString(this.root);
	}
}

function saveDrawing() {
	const side = byId("labels").offsetWidth, wide = Math.floor(width()), high = byId("rows").clientHeight, top = byId("rows").scrollTop;
	const drawing = new Drawing(side + wide, high + RULER_HEIGHT);
	drawing.fillStyle = colors().back;
	drawing.fillRect(0, 0, side + wide, high + RULER_HEIGHT);
	paintLabels(drawing, side, top);
	drawing.within(side, 0, wide, RULER_HEIGHT);
	paintRuler(drawing, wide);
	drawing.within(side, RULER_HEIGHT, wide, high);
	if (data)
		paint(drawing, wide, high, top);
	download(new Blob([String(drawing)], { type: "image/svg+xml" }), `${trace.name}.svg`);
}

// What is seen, with the rows' names and the time scale.
function savePicture() {
	const side = byId("labels").offsetWidth, wide = Math.floor(width()), high = byId("rows").clientHeight, top = byId("rows").scrollTop;
	const canvas = document.createElement("canvas"), ratio = window.devicePixelRatio || 1;
	const context = resize(canvas, side + wide, high + RULER_HEIGHT);
	context.fillStyle = colors().back;
	context.fillRect(0, 0, side + wide, high + RULER_HEIGHT);
	context.drawImage(byId("ruler"), side, 0, wide, RULER_HEIGHT);
	context.drawImage(byId("canvas"), side, RULER_HEIGHT, wide, high);
	paintLabels(context, side, top);
	canvas.toBlob(blob => download(blob, `${trace.name}.png`), "image/png");
	return ratio;
}

/* ---- a moment of a thread ---- */

function line(panel, ...parts) {
	const paragraph = document.createElement("p");
	paragraph.append(...parts);
	panel.append(paragraph);
}

function link(words, act) {
	const button = document.createElement("button");
	button.type = "button";
	button.textContent = words;
	button.onclick = act;
	return button;
}

// A moment of no thread.
function pointAt(at) {
	moment = { tid: null, at };
	byId("moment").hidden = true;
	keep(true);
	draw();
	if (tab === "notes")
		showTable();
}

async function askMoment(tid, at, push, sample) {
	const panel = byId("moment");
	moment = { tid, at, sample };
	chosen = tid;
	makeRows();
	showRow(tid);
	keep(push);
	draw();
	askPicture();
	let answer;
	try {
		answer = await askFor("moment", { from: Math.round(at), tids: String(tid) });
	} catch (error) {
		say(error.message);
		return;
	}
	if (!moment || moment.at !== at || moment.tid !== tid)
		return;
	moment.answer = answer;
	panel.hidden = false;
	panel.textContent = "";
	showMoment(panel, answer);
	line(panel, link("Note (e)", beginNote));
	if (tab === "notes")
		showTable();
	draw();
}

function showMoment(panel, answer) {
	const wait = answer.wait, name = document.createElement("b");
	if (moment.sample) {
		const sampled = document.createElement("span");
		sampled.id = "sampled";
		sampled.textContent = `A ${sampleWords(moment.sample)}`;
		line(panel, sampled);
	}
	name.textContent = `${answer.process} ${answer.tid}`;
	if (wait) {
		const slept = wait.woken_ns === null ? wait.back_ns : wait.woken_ns;
		const until = slept === null ? (answer.cut ? " for long" : " until the trace ends") : ` for ${length(slept - wait.left_ns)}`;
		const where = wait.call ? ` in ${wait.inner && wait.inner !== wait.call ? `${wait.call} › ${wait.inner}` : wait.call}` : "";
		const words = wait.state === "preempted" ? "was ready, but did not run," : `slept (${wait.state})`;
		const state = document.createElement("span");
		state.id = "wait";
		state.dataset.sleptNs = String(slept - wait.left_ns);
		state.dataset.leftNs = String(wait.left_ns);
		state.dataset.backNs = String(wait.back_ns);
		state.textContent = ` ${words}${until}${where}, from ${when(wait.left_ns)} on. `;
		line(panel, name, state, link("Mark this wait", () => setMark(wait.left_ns, wait.back_ns === null ? trace.end_ns : wait.back_ns, true)));
		if (wait.woken_ns !== null && wait.waker) {
			const by = wait.waker, who = document.createElement("span");
			const ready = wait.back_ns === null ? "" : `; it ran ${length(wait.back_ns - wait.woken_ns)} later`;
			who.id = "waker";
			who.dataset.readyNs = String(wait.back_ns - wait.woken_ns);
			who.dataset.tid = String(by.tid);
			who.dataset.wokenNs = String(wait.woken_ns);
			const outside = /^(user|kernel threads|idle)$/.test(by.in), thread = by.tid ? `${by.process} ${by.tid}` : by.process;
			who.textContent = `Woken at ${when(wait.woken_ns)} by ${by.tid === null ? by.in : outside || !by.in ? thread : `${thread}, in ${by.in}`}${ready}. `;
			line(panel, who, by.tid ? link("Follow (o)", followWaker) : "");
		}
	} else {
		line(panel, name, answer.cpu === null ? ` at ${when(answer.at_ns)}: nothing is known of it there.`
			: ` ran on CPU ${answer.cpu} at ${when(answer.at_ns)}.`);
	}
	if (answer.calls.length) {
		const list = document.createElement("ul");
		for (const call of answer.calls) {
			const item = document.createElement("li");
			const took = call.end_ns === null ? "not ended" : length(call.end_ns - call.begin_ns);
			item.append(`${"  ".repeat(call.depth)}${call.name}: ${took}${call.partial ? ", a part of it" : ""} `,
				link("Mark", () => setMark(call.begin_ns, call.end_ns === null ? trace.end_ns : call.end_ns, true)));
			list.append(item);
		}
		panel.append(list);
	}
}

// To who woke the thread, at that moment: step by step, the path that everything waited for.
function followWaker() {
	const wait = moment && moment.answer && moment.answer.wait;
	if (!wait || !wait.waker || !wait.waker.tid) {
		say("Nobody is known who has woken it");
		return;
	}
	const at = wait.woken_ns;
	askMoment(wait.waker.tid, at, true);
	if (at < view.from || at > view.to)
		goTo(at);
}

/* ---- searching ---- */

async function searchNext(back) {
	const words = byId("text").value.trim();
	if (!words)
		return;
	const from = moment ? Math.round(moment.at) : Math.round(Math.max(0, back ? view.to : view.from - 1));
	say("Searching …");
	try {
		const values = { from, text: words };
		if (back)
			values.back = "1";
		const found = await askFor("next", values);
		if (!found) {
			say(back ? `No ${words} before that` : `No ${words} behind that`);
			return;
		}
		say(`${found.name} on CPU ${found.cpu} at ${when(found.at_ns)}`);
		if (found.at_ns < view.from || found.at_ns > view.to)
			goTo(found.at_ns);
		if (found.tid > 0)
			askMoment(found.tid, found.at_ns, true);
		else
			pointAt(found.at_ns);
	} catch (error) {
		say(error.message);
	}
}

function setFilter() {
	filter = byId("text").value.trim().toLowerCase();
	makeRows();
	askPicture();
}

/* ---- pointer ---- */

function nsAt(event, element) {
	const box = element.getBoundingClientRect();
	return view.from + (event.clientX - box.left) / width() * (view.to - view.from);
}

function rowAt(event) {
	const box = byId("rows").getBoundingClientRect(), y = event.clientY - box.top + byId("rows").scrollTop;
	return rows.find(row => y >= row.y && y < row.y + row.h);
}

function partAt(key, ns) {
	let found = null;
	if (data)
		eachPart(key, (a, b, part) => {
			if (ns >= data.from_ns + a * data.bin_ns && ns < data.from_ns + b * data.bin_ns)
				found = { ...part, share: [...part.share] };
		});
	return found;
}

// The call of the chosen thread that the pointer is at.
function callAt(row, event, ns) {
	const y = event.clientY - byId("rows").getBoundingClientRect().top + byId("rows").scrollTop - row.y - THREAD_HEIGHT;
	if (!isThread(row) || row.key !== chosen || !flame || flame.tid !== chosen || y < 0)
		return null;
	return flame.calls.find(([depth, from, to]) => depth === Math.floor(y / CALL_HEIGHT) && ns >= from && ns < to);
}

// The sample of a row that is nearest, if it is near.
function sampleAt(row, ns) {
	const reach = NEAR * (view.to - view.from) / width();
	let best = null;
	for (const sample of data && row && row.key !== null ? data.samples : [])
		if ((row.kind === "cpu" ? CPU + sample[1] === row.key : isThread(row) && sample[2] === row.key) &&
			Math.abs(sample[0] - ns) <= (best ? Math.abs(best[0] - ns) : reach))
			best = sample;
	return best;
}

function sampleWords([at, cpu, tid, user, name]) {
	return `sample of ${threadName(tid)}: ${name}${user ? ", in user mode," : ""} on CPU ${cpu} at ${when(at)}`;
}

function showMarkTip(event) {
	const ns = nsAt(event, byId("ruler")), reach = NEAR * (view.to - view.from) / width();
	const near = list => list.filter(one => Math.abs(one.at - ns) <= reach).slice(0, 20);
	const lines = near((data ? data.marks : []).map(([at, cpu, name]) => ({ at, words: `${name}, on CPU ${cpu} at ${when(at)}` })))
		.concat(near(notes.map(([, at, , words]) => ({ at, words: `${words} (${when(at)})` })))).map(one => one.words);
	byId("tip").textContent = lines.join("\n");
	byId("tip").hidden = !lines.length;
	placeTip(event);
}

function placeTip(event) {
	const tip = byId("tip");
	tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
	tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
}

function showTip(event) {
	const row = rowAt(event);
	within(row && row.of, () => putTip(event, row));
}

function putTip(event, row) {
	const tip = byId("tip"), ns = nsAt(event, byId("canvas"));
	const part = row && row.key !== null ? partAt(row.key, ns) : null, lines = [];
	if (!row) {
		tip.hidden = true;
		return;
	}
	lines.push(`${row.label}, ${when(ns, (view.to - view.from) / width())}`);
	const lost = data && row.kind === "cpu" ? data.losses.find(([cpu, from, to]) => (cpu < 0 || CPU + cpu === row.key) && xOf(from) - 2 <= xOf(ns) && xOf(to) + 2 >= xOf(ns)) : null;
	if (lost)
		lines.push(lost[3] ? `${lost[3]} ${lost[4] ? "pages are missing" : "events were lost"}` : "events are missing");
	const sample = sampleAt(row, ns);
	if (sample)
		lines.push(sampleWords(sample));
	if (part && row.kind === "counter") {
		if (part.state === RUNNING)
			lines.push(part.least === part.most ? String(part.value) : `${shortNumber(part.least)} … ${shortNumber(part.most)}, then ${part.value}`);
	} else if (part && row.kind === "cpu") {
		const busy = Math.round(part.share[0] / 2.55);
		lines.push(part.share[0] ? `${threadName(part.top)}${busy < 100 ? `, busy ${busy < 1 ? "< 1" : busy} %` : ""}` : part.share[3] ? "not known" : "idle");
		if (part.inner)
			lines.push(names.get(part.inner));
	} else if (callAt(row, event, ns)) {
		const [, from, to, count, failed, name] = callAt(row, event, ns);
		lines.push(count > 1 ? `${count} calls${name ? ` of ${name}` : ""}` : `${name}: ${length(to - from)}`);
		if (failed)
			lines.push("failed");
	} else if (part) {
		const shares = part.share.map(one => Math.round(one / 2.55)), words = ["running", "ready", "blocked", "not known"];
		const mixed = shares.map((one, i) => part.share[i] && part.share[i] < 255 ? `${words[i]} ${one < 1 ? "< 1" : one} %` : "").filter(Boolean);
		lines.push(mixed.length ? mixed.join(", ") : STATES[part.state]);
		if (names.get(part.top))
			lines.push(part.inner && part.inner !== part.top ? `${names.get(part.top)} › ${names.get(part.inner)}` : names.get(part.top));
	}
	tip.textContent = lines.join("\n");
	tip.hidden = false;
	placeTip(event);
}

function clickAt(event) {
	const row = rowAt(event), ns = nsAt(event, byId("canvas"));
	if (!row || row.key === null)
		return;
	if (row.of) {
		leadToTrace(row.of);
		return;
	}
	if (ns < 0 || ns > trace.end_ns) {
		say(`${trace.name} does not have that moment`);
		return;
	}
	const sample = sampleAt(row, ns);
	if (sample && sample[2]) {
		askMoment(sample[2], sample[0], true, sample);
		return;
	}
	if (isThread(row)) {
		askMoment(row.key, ns, true);
		return;
	}
	if (row.kind === "counter") {
		const part = partAt(row.key, ns);
		say(part && part.state === RUNNING ? `${row.label}: ${part.value}` : `${row.label} has no value there`);
		return;
	}
	const part = partAt(row.key, ns);
	if (part && part.share[0] && part.top && part.top !== UNKNOWN_TID)
		askMoment(part.top, ns, true);
	else
		say(part && part.share[3] ? "It is not known who ran there" : "The CPU was idle");
}

function onPointer(canvas, always) {
	let down = null;
	canvas.addEventListener("pointerdown", event => {
		if (event.button)
			return;
		down = { x: event.clientX, ns: nsAt(event, canvas), view, marks: always || event.shiftKey, moved: false };
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", event => {
		if (!down) {
			if (always)
				showMarkTip(event);
			else
				showTip(event);
			return;
		}
		if (Math.abs(event.clientX - down.x) < 3 && !down.moved)
			return;
		down.moved = true;
		byId("tip").hidden = true;
		if (down.marks) {
			const ns = nsAt(event, canvas);
			mark = { from: Math.max(0, Math.min(down.ns, ns)), to: Math.min(trace.end_ns, Math.max(down.ns, ns)) };
			showMark();
			draw();
		} else {
			const by = (down.x - event.clientX) / width() * (down.view.to - down.view.from);
			setView(down.view.from + by, down.view.to + by);
		}
	});
	canvas.addEventListener("pointerup", event => {
		const was = down;
		down = null;
		if (!was)
			return;
		if (!was.moved && !always)
			clickAt(event);
		else if (was.moved && was.marks)
			setMark(was.ns, nsAt(event, canvas), true);
	});
	canvas.addEventListener("pointercancel", () => { down = null; });
	canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
	canvas.addEventListener("wheel", event => {
		event.preventDefault();
		const unit = event.deltaMode === 1 ? 30 : 1;
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			pan((event.deltaX || event.deltaY) * unit / width());
		else
			zoomAt(nsAt(event, canvas), 2 ** (event.deltaY * unit / 240));
	}, { passive: false });
}

/* ---- keys ---- */

const KEYS = [
	["w, s", "zoom in, out", { w: () => zoomAt(center(), .6), s: () => zoomAt(center(), 1 / .6), "+": () => zoomAt(center(), .6), "-": () => zoomAt(center(), 1 / .6) }],
	["a, d, ←, →", "move", { a: () => pan(-.2), d: () => pan(.2), ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2) }],
	["Home", "the whole trace", { Home: () => setView(0, trace.end_ns, true) }],
	["[, ]", "set an end of the marked span at the moment that was clicked, or the middle", {
		"[": () => setMark(center(), mark ? mark.to : view.to, true), "]": () => setMark(mark ? mark.from : view.from, center(), true) }],
	["m", "mark what is seen", { m: () => setMark(view.from, view.to, true) }],
	["f", "zoom to what is marked", { f: () => mark && setView(mark.from, mark.to, true) }],
	["Esc", "mark nothing", { Escape: () => setMark(null, null, true) }],
	["j, k", "the next thread, the one above", { j: () => step(1), k: () => step(-1) }],
	["Enter", "what the chosen thread was at", { Enter: () => chosen !== null && askMoment(chosen, center(), true) }],
	["o", "follow: to who woke it", { o: followWaker }],
	["e", "note on the moment that was clicked, or the middle", { e: beginNote }],
	["/", "search", { "/": () => byId("text").select() }],
	["n, N", "next event of the name that is searched for, previous one", { n: () => searchNext(false), N: () => searchNext(true) }],
	["t", "light, dark", { t: () => setTheme(theme === "light" ? "dark" : "light") }],
	["?", "this", { "?": () => byId("help").showModal() }],
	["wheel, Shift+wheel", "zoom to the pointer, move", {}],
	["drag, Shift+drag", "move, mark a span; in the time scale: mark", {}],
];

function step(by) {
	const list = rows.filter(row => row.kind === "thread" || (row.kind === "group" && row.key !== null));
	const at = list.findIndex(row => row.key === chosen), next = list[Math.max(0, Math.min(list.length - 1, at + by))];
	if (next) {
		choose(next.key);
		showRow(next.key);
	}
}

function onKey(event) {
	const inText = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
	if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open)
		return;
	if (inText && event.target.type !== "checkbox") {
		if (event.key === "Escape")
			event.target.blur();
		return;
	}
	if (event.key === "Enter" && event.target !== document.body && event.target !== byId("rows"))
		return;
	for (const [, , acts] of KEYS)
		if (Object.hasOwn(acts, event.key)) {
			event.preventDefault();
			acts[event.key]();
			return;
		}
}

function setTheme(name) {
	theme = name;
	document.documentElement.dataset.theme = name;
	stored("theme", name);
	showLegend();
	if (trace)
		draw();
}

// What is kept from one use to the next; a browser that keeps nothing is none the worse.
function stored(key, value) {
	try {
		if (value !== undefined)
			localStorage.setItem(`fkt_view.${key}`, value);
		return localStorage.getItem(`fkt_view.${key}`);
	} catch {
		return null;
	}
}

function size() {
	return `${width()} ${byId("rows").clientHeight}`;
}

// It is called once without that anything has changed.
function onResize() {
	if (size() === askedSize)
		return;
	showLabels();
	draw();
	askPicture();
}

/* ---- */

async function begin() {
	setTheme(stored("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
	byId("hint").hidden = stored("hint") === "seen";
	byId("enough").onclick = () => { stored("hint", "seen"); byId("hint").hidden = true; draw(); };
	for (const [keys, words] of KEYS) {
		const key = document.createElement("dt"), about = document.createElement("dd");
		key.textContent = keys;
		about.textContent = words;
		byId("help-keys").append(key, about);
	}
	onPointer(byId("canvas"), false);
	onPointer(byId("ruler"), true);
	document.addEventListener("keydown", onKey);
	byId("search").onsubmit = event => { event.preventDefault(); searchNext(false); };
	byId("previous").onclick = () => searchNext(true);
	byId("text").oninput = setFilter;
	byId("all").onclick = () => setView(0, trace.end_ns, true);
	byId("clock").onclick = () => {
		timeOfDay = !timeOfDay;
		byId("clock").setAttribute("aria-pressed", String(timeOfDay));
		showMark();
		draw();
	};
	byId("picture").onclick = savePicture;
	byId("drawing").onclick = saveDrawing;
	byId("theme").onclick = () => setTheme(theme === "light" ? "dark" : "light");
	byId("keys").onclick = () => byId("help").showModal();
	byId("zoom").onclick = () => mark && setView(mark.from, mark.to, true);
	byId("clear").onclick = () => setMark(null, null, true);
	byId("csv").onclick = saveCsv;
	byId("pick").onchange = () => showTable();
	byId("only").onchange = () => showTable();
	let settle = null;
	byId("rows").addEventListener("scroll", () => {
		showLabels();
		draw();
		clearTimeout(settle);
		settle = setTimeout(askPicture, 60);
	});
	window.addEventListener("popstate", restore);
	// All that the first picture needs is asked for at once.
	const [noted, list] = await Promise.all([askFor("notes"), askFor("traces"), askTrace()]);
	takeNotes(noted);
	await takeTraces(list);
	restore();
	new ResizeObserver(onResize).observe(byId("rows"));
	follow(200);
}

// Without these there is nothing to look at, and it does not go away.
begin().catch(error => {
	broken = true;
	byId("losses").hidden = false;
	byId("losses").textContent = `The trace can't be shown: ${error.message}. Reload the page to try again.`;
});
