// Decodes payloads of ROS 2 messages by ROS's own definitions: node ros_read.mjs TYPE HEX…, prints JSON.
import { ros2humble } from "@foxglove/rosmsg-msgs-common";
import { MessageReader } from "@foxglove/rosmsg2-serialization";

const [type, ...payloads] = process.argv.slice(2);
const used = new Map();
const collect = (name) => {
	if (used.has(name)) return;
	const definition = ros2humble[name];
	used.set(name, { ...definition, name });
	for (const field of definition.definitions) if (field.isComplex) collect(field.type);
};
collect(type);
const reader = new MessageReader([...used.values()].sort((a, b) => (a.name === type ? -1 : b.name === type ? 1 : 0)));
const plain = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
console.log(JSON.stringify(payloads.map((hex) => reader.readMessage(Buffer.from(hex, "hex"))), plain));
