/**
 * What a shard is at one message of its log: its manifest as of some moment before, and how far the log goes that is copied beside it.
 *
 *   files of the manifest: rows up to a message ≤ last │ log: (from, last]     rows that both have count once (engine/follow)
 *
 * The manifest is read first, then how long the log is: so whatever the files have is at or before `last`, and the follower's rule makes of
 * both what an owner that takes the shard over at that message has.
 */
import { decodeFile } from "../../../engine/schema/meta-codec.ts";
import { readStart } from "../../../engine/follow/log-start.ts";
import { MetaLog } from "../../../cluster/meta-log/meta-log.ts";
import type { ClusterPort } from "../../../cluster/port/cluster-port.ts";
import type { MetaValue } from "../../../storage/meta-store/meta-store.ts";
import { copyOwnedMetaStore, type OwnedCopy } from "../../../storage/meta-store/owned-meta-store.ts";
import type { DataFile } from "../../../storage/sst/data-file.ts";

const FORMAT = 1;

/** See the file header. */
export interface ShardCopy {
  readonly shard: number;
  /** The log is needed behind this message. */
  readonly from: number;
  /** The last message that counts; `from` where the log is not needed. */
  readonly last: number;
  /** Undefined: nobody ever owned the shard, and all its rows are in the log. */
  readonly manifest: OwnedCopy | undefined;
}

/** What shards are read of. */
export type ReadPort = Pick<ClusterPort, "log" | "ordered" | "messageBytesMax">;

/** Reads a shard of a running cluster. @throws DbError, PortError */
export async function readShard(port: ReadPort, shard: number, sleep: (millis: number) => Promise<void>): Promise<ShardCopy> {
  const manifest = await copyOwnedMetaStore(new MetaLog(port, `manifest.${shard}`, { sleep }));
  const last = await port.log.last(shard);
  return { shard, from: startOf(manifest), last, manifest };
}

/** The data files that a shard has. @throws DbError: an entry is broken */
export function filesOf({ manifest }: ShardCopy): readonly DataFile[] {
  return (manifest?.entries ?? []).flatMap(([key, value]) => (key.startsWith("file/") ? [decodeFile(key, value)] : []));
}

/** Bytes of `shard.json`. */
export function encodeShard({ shard, from, last, manifest }: ShardCopy): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ format: FORMAT, shard, from, last, manifest }));
}

/** Reads what `encodeShard` wrote. @throws Error with what is wrong with it */
export function decodeShard(bytes: Uint8Array): ShardCopy {
  const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Partial<ShardCopy> & { readonly format?: unknown };
  const { format, shard, from, last, manifest } = value;
  if (format !== FORMAT) throw new Error(`it has format ${String(format)}, and this Varve knows ${FORMAT}: upgrade it`);
  if (!isCount(shard) || !isCount(from) || !isCount(last) || last < from) throw new Error("it does not say which part of the log it needs");
  if (manifest === undefined) return { shard, from, last, manifest };
  const { epoch, entries } = manifest;
  const isPair = (pair: unknown): boolean => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === "string";
  if (!isCount(epoch) || !Array.isArray(entries) || !entries.every(isPair)) throw new Error("its manifest is none");
  if (startOf(manifest) !== from) throw new Error("its manifest begins with another message of the log");
  return { shard, from, last, manifest: { epoch, entries } };
}

function startOf(manifest: OwnedCopy | undefined): number {
  const entries = new Map<string, MetaValue>(manifest?.entries ?? []);
  return readStart({ get: (key) => entries.get(key) }).from;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
