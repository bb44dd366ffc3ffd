// Prints the messages of a bag of ROS 2 as JSON, [topic, time [ns], type, message] each, by the reader of Foxglove:
// npm packages @mcap/core, @foxglove/rosmsg, @foxglove/rosmsg2-serialization and fzstd, found by NODE_PATH.
"use strict";
const fs = require("fs");
const { McapIndexedReader } = require("@mcap/core");
const { parse } = require("@foxglove/rosmsg");
const { MessageReader } = require("@foxglove/rosmsg2-serialization");
const fzstd = require("fzstd");

const plain = (_, value) => typeof value === "bigint" ? Number(value) : ArrayBuffer.isView(value) ? Array.from(value) : value;

async function main(path) {
  const bytes = fs.readFileSync(path), found = [];
  const readable = {
    size: async () => BigInt(bytes.length),
    read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
  };
  const decompressHandlers = { zstd: (packed, size) => fzstd.decompress(packed, new Uint8Array(Number(size))) };
  const bag = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const text = new TextDecoder();
  for await (const { channelId, logTime, data } of bag.readMessages()) {
    const { topic, schemaId } = bag.channelsById.get(channelId), schema = bag.schemasById.get(schemaId);
    const reader = new MessageReader(parse(text.decode(schema.data), { ros2: true }));
    found.push([topic, logTime, schema.name, reader.readMessage(data)]);
  }
  process.stdout.write(JSON.stringify(found, plain));
}

if (process.argv[2]) main(process.argv[2]);
