// Prints what the reference reader of MCAP finds in a file, as JSON: node mcap_read.mjs FILE.
import { McapIndexedReader } from "@mcap/core";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { parse } from "@foxglove/rosmsg";
import { readFileSync } from "node:fs";

const bytes = new Uint8Array(readFileSync(process.argv[2]));
const readable = {
	size: async () => BigInt(bytes.length),
	read: async (offset, size) => bytes.slice(Number(offset), Number(offset + size)),
};
const reader = await McapIndexedReader.Initialize({ readable });
const decoders = new Map();
for (const channel of reader.channelsById.values()) {
	const schema = reader.schemasById.get(channel.schemaId);
	decoders.set(channel.id, new MessageReader(parse(new TextDecoder().decode(schema.data), { ros2: true })));
}
const xyz = (v) => [v.x, v.y, v.z];
const pick = {
	"/device/pose": (m) => [...xyz(m.pose.position), ...xyz(m.pose.orientation), m.pose.orientation.w],
	"/device/twist": (m) => [...xyz(m.twist.linear), ...xyz(m.twist.angular)],
	"/device/wrench": (m) => [...xyz(m.wrench.force), ...xyz(m.wrench.torque)],
	"/device/joy": (m) => [Array.from(m.axes), Array.from(m.buttons)],
	"/device/status": (m) => m.data,
};
const values = Object.fromEntries(Object.keys(pick).map((topic) => [topic, []]));
for await (const message of reader.readMessages()) {
	const topic = reader.channelsById.get(message.channelId).topic;
	values[topic].push(pick[topic](decoders.get(message.channelId).readMessage(message.data)));
}
const attachments = [];
for await (const a of reader.readAttachments()) attachments.push(a.name);
console.log(JSON.stringify({ profile: reader.header.profile, attachments, values }));
