// The instructor's page: one client of the console's web socket (foxglove.websocket.v1).
import { Picture } from "./picture.js";

const PROTOCOL = "foxglove.websocket.v1";
const HISTORY_S = 20;
const COMMAND_CHANNEL = 1;
const ANSWER_MS = 3000;

const stations = new Map();
const channels = new Map(); // by id: [station, kind]
let socket = null;
let chosen = null;

// ---- elements ----

function element(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes))
		name.startsWith("on") ? e.addEventListener(name.slice(2), value) : name === "class" ? (e.className = value) : e.setAttribute(name, value);
	e.append(...children);
	return e;
}

const length3 = (v) => Math.hypot(v[0], v[1], v[2]);
const count = (n) => Number(n ?? 0).toLocaleString("en");
const rounded = (n) => (n === 0 ? "0" : n.toFixed(Math.abs(n) < 0.1 ? 3 : Math.abs(n) < 10 ? 2 : Math.abs(n) < 100 ? 1 : 0));
const fileName = (path) => (path ?? "").split("/").at(-1);
const connected = () => socket?.readyState === WebSocket.OPEN;

class Station {
	constructor(name) {
		Object.assign(this, { name, info: null, totals: null, figures: null, events: [], told: "" });
		this.begin();
		this.picture = new Picture();
		this.canvas = element("canvas", { class: "picture" });
		this.label = element("span", { class: "state" });
		this.scene = element("span", { class: "soft" });
		this.rateText = element("span", { class: "soft number" });
		this.misses = element("span", { class: "soft" });
		this.forceText = element("span", { class: "number" });
		this.bar = element("i");
		this.answer = element("span", { class: "soft answer", role: "status" });
		this.stop = element("button", { class: "stop", type: "button", onclick: () => command(this, "stop") }, "Stop forces");
		this.card = element("article", { class: "station", "data-station": name },
			element("button", { class: "open", type: "button", "aria-label": `show ${name} large`, onclick: () => choose(name) }, this.canvas,
				element("div", { class: "facts" }, element("b", {}, name), this.label, this.scene, this.rateText,
					this.misses, this.forceText, element("div", { class: "bar" }, this.bar))),
			element("div", { class: "actions" }, this.stop, this.answer));
		const cards = document.getElementById("stations");
		cards.insertBefore(this.card, [...cards.children].find((card) => card.dataset.station > name) ?? null);
	}

	begin() { // of a run
		Object.assign(this, { states: {}, history: [], rate: 0 });
	}

	get gone() {
		return this.info && !this.info.there;
	}

	get obeys() {
		return connected() && this.info?.running && !this.gone && this.info.commands;
	}

	get whyNot() {
		return this.info && !this.info.commands ? "this station takes no commands (--commands)" : "";
	}

	get stopped() {
		return Object.values(this.states).some((s) => s.stopped);
	}

	word() {
		if (!connected()) return "unknown";
		if (this.gone) return "gone";
		if (!this.info?.running) return "no run";
		return this.stopped ? "stopped" : this.states[0]?.state ?? "running";
	}

	missesText() {
		if (!this.totals) return "";
		const causes = Object.entries(this.totals.causes).map(([cause, n]) => `${cause} ${count(n)}`);
		return `${count(this.totals.misses)} missed` + (causes.length ? ` (${causes.join(", ")})` : "");
	}

	recording() {
		if (!this.info?.recordings) return "none";
		return this.info.stored === "unknown" ? "on the station" : `on the station, ${this.info.stored}`;
	}

	show() {
		const word = this.word(), state = this.states[0], force = state ? length3(state.force) : 0;
		this.card.classList.toggle("gone", !!this.gone || !connected());
		this.label.textContent = word;
		this.label.className = `state ${word === "stopped" ? "stopped" : word === "gone" || word === "unknown" ? "gone" : this.info?.running ? "running" : ""}`;
		this.scene.textContent = fileName(this.info?.scene) || "–";
		this.rateText.textContent = this.info?.running ? `${this.rate.toFixed(0)} Hz` : "";
		this.misses.textContent = this.missesText();
		this.forceText.textContent = `${force.toFixed(2)} N`;
		this.bar.style.width = `${Math.min(100, (100 * force) / (this.info?.tools?.[0]?.max_force_N || 10))}%`;
		this.answer.textContent = this.told;
		this.stop.disabled = !this.obeys;
		this.stop.title = this.whyNot;
		if (!document.hidden) this.picture.draw(this.canvas, this.states);
	}

	// ---- what arrives ----

	hear_info(info) {
		if (this.info?.run !== info.run) this.begin();
		this.info = info;
	}

	hear_totals(totals) {
		this.totals = totals;
	}

	hear_figures(figures) {
		this.figures = figures;
	}

	hear_scene(scene) {
		this.picture.build(scene);
	}

	hear_event(event) {
		this.events.push(event);
		if (this.events.length > 200) this.events.shift();
		if (event.kind === "command" && this.asked) {
			clearTimeout(this.asked);
			this.asked = null;
			this.told = event.text.slice(17);
		}
	}

	hear_state(state) {
		const before = this.states[state.tool];
		this.states[state.tool] = state;
		if (state.tool !== 0) return;
		const force = length3(state.force);
		if (before && before.tick < state.tick) {
			const rate = ((state.tick - before.tick) * 1e9) / (state.time_ns - before.time_ns);
			if (Number.isFinite(rate)) this.rate += 0.05 * (rate - this.rate) * (this.rate ? 1 : 20);
		}
		const now = state.time_ns / 1e9;
		const lag = Math.hypot(...[0, 1, 2].map((i) => state.pose[i] - state.device[i])) * 1000;
		this.history.push({ t: now, force, compute: state.compute_us, lag });
		while (this.history.length && this.history[0].t < now - HISTORY_S) this.history.shift();
	}
}

// ---- one station, large ----

const large = document.getElementById("large");
const plots = [["force", "force, N", "--force"], ["lag", "device to tool, mm", "--tool"], ["compute", "tick, µs", "--good"]];
const parts = {};

function choose(name) {
	const card = stations.get(name).card;
	chosen = chosen === name ? null : name;
	large.hidden = !chosen;
	if (!chosen) return card.scrollIntoView({ block: "nearest" });
	card.after(large);
	parts.canvas = element("canvas", { class: "picture" });
	parts.title = element("h2");
	parts.facts = element("p", { class: "soft" });
	parts.events = element("ol");
	parts.shown = 0;
	parts.plots = plots.map(([, title]) => element("canvas", { class: "plot", role: "img", "aria-label": title }));
	const station = () => stations.get(chosen);
	parts.buttons = [
		element("button", { class: "plain", type: "button", onclick: () => command(station(), "gain", 0.5) }, "At most half the forces"),
		element("button", { class: "plain", type: "button", onclick: () => command(station(), "end") }, "End the run"),
		element("button", { class: "stop", type: "button", onclick: () => command(station(), "stop") }, "Stop forces"),
	];
	parts.answer = element("span", { class: "soft answer", role: "status" });
	large.replaceChildren(element("div", { class: "inner" },
		element("header", {}, parts.title, element("button", { class: "plain", type: "button", onclick: () => choose(chosen) }, "Close")),
		element("div", {}, parts.canvas, parts.facts,
			element("div", { class: "actions" }, ...parts.buttons, parts.answer)),
		element("div", {}, ...parts.plots, parts.events)));
	large.scrollIntoView({ block: innerWidth > 700 ? "nearest" : "start" });
}

function plot(canvas, history, key, title, colour) {
	const width = (canvas.width = canvas.clientWidth * devicePixelRatio), height = (canvas.height = canvas.clientHeight * devicePixelRatio);
	const style = getComputedStyle(document.documentElement), pen = canvas.getContext("2d");
	const most = Math.max(1e-3, ...history.map((h) => h[key])), end = history.at(-1)?.t ?? 0;
	pen.strokeStyle = style.getPropertyValue("--line");
	pen.strokeRect(0.5, 0.5, width - 1, height - 1);
	pen.fillStyle = style.getPropertyValue("--soft");
	pen.font = `${12 * devicePixelRatio}px system-ui`;
	pen.fillText(`${title}, up to ${rounded(most)}`, 6 * devicePixelRatio, 15 * devicePixelRatio);
	pen.strokeStyle = style.getPropertyValue(colour);
	pen.lineWidth = 1.5 * devicePixelRatio;
	pen.beginPath();
	for (const h of history) pen.lineTo(width * (1 + (h.t - end) / HISTORY_S), height - 4 - (height - 24 * devicePixelRatio) * (h[key] / most));
	pen.stroke();
}

function showLarge() {
	const s = stations.get(chosen);
	if (!s) return;
	parts.title.textContent = `${s.name}: ${s.word()}`;
	const tools = s.info?.tools?.map((t) => `${t.name} on ${t.device}`).join(", ");
	parts.facts.textContent = [fileName(s.info?.scene), tools, `${count(s.totals?.ticks)} ticks`, s.missesText(), `recording: ${s.recording()}`].filter(Boolean).join(" · ");
	parts.answer.textContent = s.told;
	for (const button of parts.buttons) Object.assign(button, { disabled: !s.obeys, title: s.whyNot });
	s.picture.draw(parts.canvas, s.states);
	plots.forEach(([key, title, colour], i) => plot(parts.plots[i], s.history, key, title, colour));
	const newest = s.events.at(-1)?.number ?? -1;
	if (parts.shown === newest) return;
	parts.shown = newest;
	parts.events.replaceChildren(...s.events.slice(-60).reverse().map((e) =>
		element("li", {}, element("time", {}, new Date(e.time_ns / 1e6).toLocaleTimeString()), element("b", {}, e.kind),
			element("span", {}, e.kind === "command" ? e.text.slice(17) : e.text), element("span", {}, e.value >= 0.005 ? `${e.value.toFixed(2)} N` : ""))));
}

// ---- comparison ----

// The figures of a station's run that describe the whole of it: [heading, figure], in the station's order.
function figuresOf(s) {
	if (!s.figures || s.figures.run !== s.info?.run) return [];
	const many = s.figures.tools.length > 1;
	return s.figures.tools.flatMap((t) => t.list.filter((f) => !f.detail).map((f) => {
		const limit = f.limit === null ? "" : ` (${f.at_least ? "≥" : "≤"} ${f.limit})`;
		return [(many ? `${s.info.tools[t.tool]?.name ?? t.tool}: ` : "") + f.name + (f.unit ? `, ${f.unit}` : "") + limit, f];
	}));
}

// One table for each scene, a column for each station: only who does the same can be compared.
function table(scene, group) {
	const figures = new Map(group.map((s) => [s, new Map(figuresOf(s))]));
	const limited = [...figures.values()].some((of) => [...of.values()].some((f) => f.limit !== null));
	const row = (heading, cell) => element("tr", {}, element("th", { scope: "row" }, heading), ...group.map((s) => {
		const [text, bad] = cell(s);
		return element("td", bad ? { class: "exceeded" } : {}, text);
	}));
	const value = (f) => (!f || f.value === null ? "–" : f.unit === "" ? count(f.value) : rounded(f.value));
	const passed = (s) => (figures.get(s).size === 0 ? ["–"] : s.figures.tools.every((t) => t.passed) ? ["passed"] : ["not passed", true]);
	const rows = [...new Set([...figures.values()].flatMap((of) => [...of.keys()]))].map((heading) => row(heading, (s) => {
		const f = figures.get(s).get(heading);
		return [value(f), f?.exceeded];
	}));
	return element("div", { "data-scene": scene }, element("div", { class: "wide" }, element("table", {},
		element("thead", {}, element("tr", {}, element("th", {}, fileName(scene) || "no run yet"), ...group.map((s) => element("th", { scope: "col" }, s.name)))),
		element("tbody", {}, ...(limited ? [row("task", passed)] : []), ...rows, row("ticks", (s) => [count(s.totals?.ticks)]),
			row("missed", (s) => [count(s.totals?.misses)]), row("recording", (s) => [s.recording()])))));
}

function showComparison() {
	document.getElementById("comparison").hidden = stations.size === 0;
	const groups = new Map();
	for (const s of [...stations.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
		const scene = s.info?.scene ?? "";
		groups.set(scene, [...(groups.get(scene) ?? []), s]);
	}
	const tables = document.getElementById("tables");
	const scrolled = new Map([...tables.children].map((t) => [t.dataset.scene, t.lastChild.scrollLeft]));
	tables.replaceChildren(...[...groups].map(([scene, group]) => table(scene, group)));
	for (const t of tables.children) t.lastChild.scrollLeft = scrolled.get(t.dataset.scene) ?? 0;
}

// ---- the socket ----

function command(station, kind, value = 0) {
	if (!connected()) {
		station.told = `${kind} not sent: not connected`;
		return;
	}
	const text = new TextEncoder().encode(JSON.stringify({ station: station.name, kind, value, text: "" }));
	const message = new Uint8Array(5 + text.length);
	message[0] = 1;
	new DataView(message.buffer).setUint32(1, COMMAND_CHANNEL, true);
	message.set(text, 5);
	socket.send(message);
	station.told = `${kind} sent…`;
	clearTimeout(station.asked);
	station.asked = setTimeout(() => {
		station.told = `${kind}: no answer`;
		station.asked = null;
	}, ANSWER_MS);
}

function advertised(list) {
	const wanted = [];
	for (const channel of list) {
		const [, name, kind] = channel.topic.split("/");
		if (channel.encoding !== "json" || !(`hear_${kind}` in Station.prototype)) continue;
		if (!stations.has(name)) stations.set(name, new Station(name));
		channels.set(channel.id, [stations.get(name), kind]);
		wanted.push({ id: channel.id, channelId: channel.id });
	}
	socket.send(JSON.stringify({ op: "subscribe", subscriptions: wanted }));
}

function received(event) {
	if (typeof event.data === "string") {
		const message = JSON.parse(event.data);
		if (message.op === "advertise") advertised(message.channels);
		return;
	}
	const view = new DataView(event.data);
	const [station, kind] = channels.get(view.getUint32(1, true)) ?? [];
	if (station) station[`hear_${kind}`](JSON.parse(new TextDecoder().decode(event.data.slice(13))));
}

function connect() {
	const token = new URLSearchParams(location.search).get("token");
	const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${token ? `?token=${encodeURIComponent(token)}` : ""}`;
	socket = new WebSocket(url, PROTOCOL);
	socket.binaryType = "arraybuffer";
	socket.onopen = () => socket.send(JSON.stringify({ op: "advertise", channels: [{ id: COMMAND_CHANNEL, topic: "/command", encoding: "json", schemaName: "tactus.Command" }] }));
	socket.onmessage = received;
	socket.onclose = () => {
		socket = null;
		setTimeout(connect, 1000);
	};
}

function summary() {
	const all = [...stations.values()], there = all.filter((s) => s.info?.there);
	if (!connected()) return "not connected to the console";
	if (all.length === 0) return "no station yet: tactus share --station NAME";
	return `${there.length} of ${all.length} stations here, ${there.filter((s) => s.info.running).length} running`;
}

let lastTable = 0;
function show(now) {
	document.getElementById("summary").textContent = summary();
	for (const station of stations.values()) station.show();
	if (chosen) showLarge();
	if (now - lastTable > 1000) {
		showComparison();
		lastTable = now;
	}
}

connect();
setInterval(() => show(performance.now()), 66);
