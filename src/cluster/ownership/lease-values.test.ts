import { expect, test } from "bun:test";
import { LEASE_VALUE_BYTES_MAX } from "../port/limits.ts";
import { decodeNodeValue, encodeNodeValue, type NodeValue } from "./node-value.ts";
import { decodeShardValue, encodeShardValue } from "./shard-value.ts";
import { isAddress, ValueError } from "./value-fields.ts";

const NODE: NodeValue = {
  address: "10.0.0.7:3001",
  identity: "node-1.7f3a",
  startedAtMillis: 1_700_000_000_000,
  version: "1.0.0",
  isDraining: false,
  shards: new Map([
    [3, { epoch: 2, applied: 1656, lagRecords: 0, memoryBytes: 7_450_060 }],
    [1023, { epoch: 1, applied: Number.MAX_SAFE_INTEGER, lagRecords: 5, memoryBytes: 0 }],
  ]),
  failing: new Map([[4, "its manifest is damaged: “…”"]]),
};

/** A node's value as JSON with other fields. */
function nodeText(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...(JSON.parse(encodeNodeValue(NODE)) as object), ...fields });
}

/** Why a value is refused. */
function why(decode: () => unknown): string {
  try {
    decode();
  } catch (error) {
    if (error instanceof ValueError) return error.message;
    throw error;
  }
  return "it is not";
}

test("a node's value is what FORMAT.md says", () => {
  expect(encodeNodeValue(NODE)).toBe(
    '{"v":1,"address":"10.0.0.7:3001","identity":"node-1.7f3a","started":1700000000000,"version":"1.0.0","draining":false,' +
      '"shards":"3.2.1a0.0.4foi4 sf.1.2gosa7pa2gv.5.0","failing":[[4,"its manifest is damaged: “…”"]]}',
  );
  expect(decodeNodeValue(encodeNodeValue(NODE))).toEqual(NODE);
  const none = { ...NODE, isDraining: true, shards: new Map(), failing: new Map() };
  expect(decodeNodeValue(encodeNodeValue(none))).toEqual(none);
});

test("a node tells of all shards of the largest cluster, whatever the numbers, within the bounds of a lease", () => {
  const progress = { epoch: 2 ** 53 - 1, applied: 2 ** 53 - 1, lagRecords: 2 ** 53 - 1, memoryBytes: 2 ** 53 - 1 };
  const shards = new Map(Array.from({ length: 1024 }, (_, shard) => [shard, progress]));
  const failing = new Map(Array.from({ length: 20 }, (_, shard) => [shard, "\u0001".repeat(1000)]));
  const text = encodeNodeValue({ ...NODE, version: "\u0001".repeat(1000), shards, failing });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LEASE_VALUE_BYTES_MAX);
  const read = decodeNodeValue(text);
  expect([read.shards.size, read.failing.size, read.failing.get(7)?.length]).toEqual([1024, 8, 200]);
});

test("fields that are not known are passed over", () => {
  expect(decodeNodeValue(nodeText({ zone: "eu-1" }))).toEqual(NODE);
});

test.each([
  ["", "it is no JSON"],
  ["{", "it is no JSON"],
  ["[]", "it is no object"],
  ["null", "it is no object"],
  ["{}", "its version is undefined, and 1 is known"],
  [nodeText({ v: 2 }), "its version is 2, and 1 is known"],
  [nodeText({ v: "x".repeat(100) }), `its version is ${"x".repeat(20)}, and 1 is known`],
  [nodeText({ address: "http://a" }), "its address is no host and port"],
  [nodeText({ address: 7 }), "its address is no host and port"],
  [nodeText({ identity: "x".repeat(129) }), "its identity is no short text"],
  [nodeText({ started: -1 }), "its start is no time"],
  [nodeText({ version: null }), "its version is no short text"],
  [nodeText({ draining: 1 }), "whether it is draining is not said"],
  [nodeText({ shards: [] }), "its shards are no text"],
  [nodeText({ shards: "1.2.3.4" }), "one of its shards is not told as shards are"],
  [nodeText({ shards: "1.2.3.4.5 " }), "one of its shards is not told as shards are"],
  [nodeText({ shards: "sg.2.3.4.5" }), "one of its shards is not told as shards are"],
  [nodeText({ shards: "1.zzzzzzzzzzz.3.4.5" }), "one of its shards is not told as shards are"],
  [nodeText({ failing: {} }), "its shards that fail are no short list"],
  [nodeText({ failing: Array.from({ length: 9 }, () => [1, "x"]) }), "its shards that fail are no short list"],
  [nodeText({ failing: [[1]] }), "one of its shards that fail is not told as they are"],
  [nodeText({ failing: [[1024, "x"]] }), "one of its shards that fail is not told as they are"],
])("a node's value %s is refused", (text, reason) => {
  expect(why(() => decodeNodeValue(text))).toBe(reason);
});

test("a shard's value is what FORMAT.md says", () => {
  const claim = { nodeId: "node-1", epoch: 7, state: "serving", isKept: false, asked: 0, askedOf: 0 } as const;
  expect(encodeShardValue(claim)).toBe('{"v":1,"node":"node-1","epoch":7,"state":"serving","kept":false}');
  expect(decodeShardValue(encodeShardValue(claim))).toEqual(claim);
  const asking = { ...claim, asked: 3, askedOf: 77 };
  expect(encodeShardValue(asking)).toBe('{"v":1,"node":"node-1","epoch":7,"state":"serving","kept":false,"asked":3,"askedOf":77}');
  expect(decodeShardValue(encodeShardValue(asking))).toEqual(asking);
});

test.each([
  ["7", "it is no object"],
  ['{"v":1,"node":"a.b","epoch":7,"state":"serving","kept":false}', "it names no node"],
  ['{"v":1,"node":"a","epoch":-7,"state":"serving","kept":false}', "its epoch is no whole number"],
  ['{"v":1,"node":"a","epoch":7,"state":"resting","kept":false}', "its state is not known"],
  ['{"v":1,"node":"a","epoch":7,"state":"serving"}', "whether it is kept is not said"],
])("a shard's value %s is refused", (text, reason) => {
  expect(why(() => decodeShardValue(text))).toBe(reason);
});

test.each(["a:1", "10.0.0.7:3001", "[::1]:3001", "node-7.cluster.local:65535"])("%s is an address", (text) => {
  expect(isAddress(text)).toBe(true);
});

test.each(["", "a", ":1", "a:", "a:123456", "http://a:1", "a b:1", "u@a:1", `${"x".repeat(254)}:1`])("%s is no address", (text) => {
  expect(isAddress(text)).toBe(false);
});
