/** The value of a node's lease: FORMAT.md. */
import { assert } from "../../base/assert.ts";
import { LEASE_VALUE_BYTES_MAX } from "../port/limits.ts";
import type { KnownNode, ShardProgress } from "./directory.ts";
import { CLUSTER_SHARDS_MAX, FAILING_MAX, IDENTITY_CHARACTERS_MAX, REASON_CHARACTERS_MAX, VERSION_CHARACTERS_MAX } from "./limits.ts";
import { isAddress, isWhole, ValueError, valueFields } from "./value-fields.ts";

/** What a node says of itself. */
export type NodeValue = Omit<KnownNode, "id">;

/** Of values that nodes write now; a reader refuses others by name. */
const VERSION = 1;
const BASE = 36;
const SHARD = /^[\da-z]{1,11}(?:\.[\da-z]{1,11}){4}$/;

/** A node's value as text, at most `LEASE_VALUE_BYTES_MAX` bytes. Of shards that fail only the first `FAILING_MAX` are told. */
export function encodeNodeValue(node: NodeValue): string {
  assert(isAddress(node.address), `a node's address is a host and a port; got ${node.address}`);
  assert(node.shards.size <= CLUSTER_SHARDS_MAX, `a node has at most ${CLUSTER_SHARDS_MAX} shards; got ${node.shards.size}`);
  const value = JSON.stringify({
    v: VERSION,
    address: node.address,
    identity: node.identity.slice(0, IDENTITY_CHARACTERS_MAX),
    started: node.startedAtMillis,
    version: node.version.slice(0, VERSION_CHARACTERS_MAX),
    draining: node.isDraining,
    shards: [...node.shards].map(([shard, progress]) => shardText(shard, progress)).join(" "),
    failing: [...node.failing].slice(0, FAILING_MAX).map(([shard, reason]) => [shard, reason.slice(0, REASON_CHARACTERS_MAX)]),
  });
  assert(Buffer.byteLength(value) <= LEASE_VALUE_BYTES_MAX, `a node's value fits into its lease; got ${value.length} characters`);
  return value;
}

function shardText(shard: number, { epoch, applied, lagRecords, memoryBytes }: ShardProgress): string {
  const numbers = [shard, epoch, applied, lagRecords, memoryBytes].map((number) => Math.max(0, Math.round(number)));
  return numbers.map((number) => number.toString(BASE)).join(".");
}

/** What a node says. @throws ValueError */
export function decodeNodeValue(text: string): NodeValue {
  const fields = valueFields(text, VERSION);
  const { address, identity, started, version, draining, shards, failing } = fields;
  if (typeof address !== "string" || !isAddress(address)) throw new ValueError("its address is no host and port");
  if (typeof identity !== "string" || identity.length > IDENTITY_CHARACTERS_MAX) throw new ValueError("its identity is no short text");
  if (!isWhole(started)) throw new ValueError("its start is no time");
  if (typeof version !== "string" || version.length > VERSION_CHARACTERS_MAX) throw new ValueError("its version is no short text");
  if (typeof draining !== "boolean") throw new ValueError("whether it is draining is not said");
  if (typeof shards !== "string") throw new ValueError("its shards are no text");
  return {
    address,
    identity,
    startedAtMillis: started,
    version,
    isDraining: draining,
    shards: decodedShards(shards),
    failing: decodedFailing(failing),
  };
}

function decodedShards(text: string): Map<number, ShardProgress> {
  const shards = new Map<number, ShardProgress>();
  for (const word of text === "" ? [] : text.split(" ")) {
    const [shard = -1, epoch = 0, applied = 0, lagRecords = 0, memoryBytes = 0] = SHARD.test(word)
      ? word.split(".").map((digits) => Number.parseInt(digits, BASE))
      : [];
    if (shard < 0 || shard >= CLUSTER_SHARDS_MAX || ![epoch, applied, lagRecords, memoryBytes].every(isWhole)) {
      throw new ValueError("one of its shards is not told as shards are");
    }
    shards.set(shard, { epoch, applied, lagRecords, memoryBytes });
  }
  return shards;
}

function decodedFailing(list: unknown): Map<number, string> {
  const failing = new Map<number, string>();
  if (!Array.isArray(list) || list.length > FAILING_MAX) throw new ValueError("its shards that fail are no short list");
  for (const pair of list as unknown[]) {
    const [shard, reason] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (!isWhole(shard) || shard >= CLUSTER_SHARDS_MAX || typeof reason !== "string" || reason.length > REASON_CHARACTERS_MAX) {
      throw new ValueError("one of its shards that fail is not told as they are");
    }
    failing.set(shard, reason);
  }
  return failing;
}
