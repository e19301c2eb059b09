// Drives the console's page in headless Chromium: node console.mjs CHROMIUM URL PICTURES. Prints what it has seen, a line each, and
// waits for a line on standard input where the test has something to do.
import puppeteer from "puppeteer-core";
import { createInterface } from "node:readline";

const [chromium, url, pictures] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const browser = await puppeteer.launch({
	executablePath: chromium,
	args: ["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const page = await browser.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(String(error)));
page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
page.setDefaultTimeout(60000);
await page.setViewport({ width: 1280, height: 900 });
await page.goto(url);
const label = (name) => `[data-station=${name}] .state`;
const until = (fn, ...values) => page.waitForFunction(fn, { polling: 100 }, ...values);
const saysOf = (selector, text) => until((s, t) => document.querySelector(s)?.textContent.includes(t), selector, text);

await saysOf("#summary", "4 of 4 stations here");
await saysOf(label("s1"), "running");
console.log("stations appear");

// A picture has colours besides its background.
await until(() => {
	const canvas = document.querySelector("[data-station=s1] canvas.picture");
	const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
	const seen = new Set();
	for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
	return seen.size > 50;
});
console.log("pictures are drawn");

await page.click("[data-station=s1] button.open");
await saysOf("#large h2", "s1: running");
const drawn = () => page.$eval("#large canvas.plot", (canvas) => canvas.toDataURL());
await until(() => document.querySelectorAll("#large li").length > 0);
const before = await drawn();
await until((old) => document.querySelector("#large canvas.plot").toDataURL() !== old, before);
console.log("plots move");
if (pictures) {
	await new Promise((resolve) => setTimeout(resolve, 3000));
	await page.screenshot({ path: `${pictures}/console-large.png`, fullPage: true });
	await page.setViewport({ width: 390, height: 844, deviceScaleFactor: 2 });
	await new Promise((resolve) => setTimeout(resolve, 1000));
	await page.screenshot({ path: `${pictures}/console-phone.png`, fullPage: true });
	await page.setViewport({ width: 1280, height: 900 });
}
const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
await page.setViewport({ width: 360, height: 740 });
const narrow = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
console.log(wide && narrow ? "fits" : `does not fit: ${wide} ${narrow}`);

await page.click("[data-station=s1] button.stop");
await saysOf(label("s1"), "stopped");
await saysOf("[data-station=s1] .answer", "stop");
console.log("a stop arrives");
await saysOf(label("s2"), "running");
console.log("the other goes on");

// The bodies of a scene that consists of a mesh file, as any client gets them.
const bodies = await page.evaluate(() => new Promise((resolve) => {
	const socket = new WebSocket(`ws://${location.host}/`, "foxglove.websocket.v1");
	socket.binaryType = "arraybuffer";
	socket.onmessage = ({ data }) => {
		if (typeof data !== "string") {
			const { objects, tools } = JSON.parse(new TextDecoder().decode(data.slice(13)));
			socket.close();
			resolve([tools.length, objects.length, objects[0].vertices.length, objects[0].triangles.length]);
			return;
		}
		const channel = (JSON.parse(data).channels ?? []).find(({ topic }) => topic === "/s4/scene");
		if (channel) socket.send(JSON.stringify({ op: "subscribe", subscriptions: [{ id: 1, channelId: channel.id }] }));
	};
}));
console.log("bodies " + JSON.stringify(bodies));

console.log("kill");
await lines.next();
await saysOf(label("s2"), "gone");
console.log("a killed station is gone");
// By scene, station and heading; the third run has ended, and its last figures are there.
await until(() => document.querySelector("[data-scene=lumbar] tbody")?.textContent.includes("punctures"));
await saysOf(label("s3"), "no run");
await new Promise((resolve) => setTimeout(resolve, 2500)); // the tables are made anew every second
const tables = await page.$$eval("#tables > div", (all) => Object.fromEntries(all.map((table) => [table.dataset.scene,
	Object.fromEntries([...table.querySelectorAll("thead th")].slice(1).map((station, i) => [station.textContent,
		Object.fromEntries([...table.querySelectorAll("tbody tr")].map((row) => [row.children[0].textContent, row.children[i + 1].textContent]))]))])));
console.log("tables " + JSON.stringify(tables));
console.log("errors " + JSON.stringify(errors));
await browser.close();
process.exit(0);
