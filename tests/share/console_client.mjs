// The reference client of foxglove.websocket.v1: node console_client.mjs URL. Prints the channels, and the first messages of
// tool_pose, decoded by the schema that the server gave, as JSON.
import protocol from "@foxglove/ws-protocol";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import WebSocket from "ws";

const { FoxgloveClient } = protocol;
const client = new FoxgloveClient({ ws: new WebSocket(process.argv[2], [FoxgloveClient.SUPPORTED_SUBPROTOCOL], { rejectUnauthorized: false }) });
const readers = new Map();
const found = { channels: [], messages: [] };
client.on("serverInfo", (info) => (found.server = info));
client.on("error", (error) => {
	console.log(JSON.stringify({ error: String(error) }));
	process.exit(1);
});
client.on("close", () => process.exit(1));
client.on("advertise", (channels) => {
	for (const channel of channels) {
		found.channels.push([channel.topic, channel.encoding, channel.schemaName]);
		if (!channel.topic.endsWith("/tool_pose")) continue;
		readers.set(client.subscribe(channel.id), new MessageReader(parse(channel.schema, { ros2: true })));
	}
});
client.on("message", ({ subscriptionId, data }) => {
	found.messages.push(readers.get(subscriptionId).readMessage(data));
	if (found.messages.length < 5) return;
	console.log(JSON.stringify(found));
	process.exit(0);
});
