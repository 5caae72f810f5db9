/**
 * The manifest of a backup: its moment and its files, each with its length and SHA-256. It is written last: a folder without one is what an
 * interrupted backup left.
 *
 *   <id>/manifest.json      one line of JSON, then a line with the SHA-256 of the first
 *   <id>/<path>             the files that no earlier backup had; `object` says where each is
 *
 * Version 1 is of a server, version 2 of a cluster. A reader refuses other versions; unknown fields are skipped.
 */
import { errorText } from "../../base/error.ts";
import { type BackupTarget, PIECE_BYTES } from "./target.ts";

const FORMAT = "varve-backup";
const SERVER_VERSION = 1;
const CLUSTER_VERSION = 2;
/** Name of the object below the backup's id. */
const MANIFEST = "manifest.json";
/** Largest manifest that is read: about 2,000,000 files. */
const MANIFEST_BYTES_MAX: number = 512 * 1024 * 1024;
/** Names of files of a data directory: nothing else is ever restored. */
const PATH = /^(?:meta\.db|data\/tables\/\d{10}\/\d{10}\.parquet|wal\/(?:threads|(?:thread-[1-9]\d{0,3}\/)?(?:\d{10}\.log|ends)))$/;
/** The same of a cluster: `cluster/paths.ts` makes them. */
const CLUSTER_PATH = /^(?:catalog\.json|shard-\d{4}\/(?:shard\.json|log)|data\/shard-\d{4}\/tables\/\d{10}\/\d{10}\.parquet)$/;
const ID = /^\d{8}T\d{9}Z-[0-9a-f]{1,8}$/;

/** A file of a backup. */
export interface BackupFile {
  /** In the data directory. */
  readonly path: string;
  /** In the target. */
  readonly object: string;
  readonly byteLength: number;
  readonly sha256: string;
  /** Of a data file whose entry in the meta store has it: CRC-32 of all its bytes. */
  readonly crc?: number;
}

interface AnyManifest {
  readonly id: string;
  /** Milliseconds since the epoch: what was acknowledged before it is in the backup. */
  readonly moment: number;
  readonly files: readonly BackupFile[];
}

/** Of one server. */
export interface ServerManifest extends AnyManifest {
  readonly kind: "server";
  /** The backup has the log records up to it. */
  readonly sequence: number;
}

/** Of a cluster. */
export interface ClusterManifest extends AnyManifest {
  readonly kind: "cluster";
  /** Milliseconds since the epoch: what was sent after it is not in the backup. */
  readonly until: number;
  readonly shards: number;
}

/** See the file header. */
export type Manifest = ServerManifest | ClusterManifest;

/** A manifest without its files. */
export type ManifestHead = Omit<ServerManifest, "files"> | Omit<ClusterManifest, "files">;

/** A backup in a target: whole, or why not. */
export type FoundBackup =
  | { readonly kind: "whole"; readonly id: string; readonly manifest: Manifest }
  | { readonly kind: "unfinished"; readonly id: string }
  | { readonly kind: "damaged"; readonly id: string; readonly why: string };

/** Name of the manifest of a backup. */
export function manifestName(id: string): string {
  return `${id}/${MANIFEST}`;
}

/** The bytes of a manifest. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const { id, moment } = manifest;
  const files = manifest.files.map(({ path, object, byteLength, sha256, crc }) => ({ path, object, bytes: byteLength, sha256, crc }));
  const line = JSON.stringify(
    manifest.kind === "server"
      ? { format: FORMAT, version: SERVER_VERSION, id, moment, sequence: manifest.sequence, files }
      : { format: FORMAT, version: CLUSTER_VERSION, kind: "cluster", id, moment, until: manifest.until, shards: manifest.shards, files },
  );
  return new TextEncoder().encode(`${line}\n${sha256Of(line)}\n`);
}

/** @throws Error with what is wrong with it */
function decodeManifest(bytes: Uint8Array): Manifest {
  const [line = "", sum = "", ...rest] = new TextDecoder("utf-8", { fatal: true }).decode(bytes).split("\n");
  if (rest.length !== 1 || rest[0] !== "" || sum !== sha256Of(line)) throw new Error("it does not match its checksum");
  const value = JSON.parse(line) as Record<string, unknown>; // As it was written: its checksum matches.
  if (value["format"] !== FORMAT) throw new Error("it is no manifest of a backup");
  const { version, kind, id, moment, sequence, until, shards } = value;
  if (version !== SERVER_VERSION && version !== CLUSTER_VERSION) {
    const known = `${SERVER_VERSION} and ${CLUSTER_VERSION}`;
    throw new Error(`it has version ${String(version)}; this Varve knows ${known}: upgrade it`);
  }
  const isOfCluster = version === CLUSTER_VERSION;
  if (isOfCluster && kind !== "cluster") throw new Error(`it is of a ${String(kind)}, which this Varve does not know: upgrade it`);
  const files = (value["files"] as Record<string, unknown>[]).map((file) => fileOf(file, isOfCluster ? CLUSTER_PATH : PATH));
  const any = { id: String(id), moment: Number(moment), files };
  if (isOfCluster) return { ...any, kind: "cluster", until: Number(until), shards: Number(shards) };
  return { ...any, kind: "server", sequence: Number(sequence) };
}

function fileOf(value: Record<string, unknown>, paths: RegExp): BackupFile {
  const { path, object, bytes, sha256, crc } = value;
  if (typeof path !== "string" || !paths.test(path)) throw new Error(`it names ${String(path)}, which is no file of a data directory`);
  if (typeof object !== "string" || !isObjectOf(object, path)) throw new Error(`it says that ${path} is in ${String(object)}`);
  return {
    path,
    object,
    byteLength: Number(bytes),
    sha256: String(sha256),
    ...(crc === undefined ? {} : { crc: Number(crc) }),
  };
}

/** Whether an object is that of a path in some backup. */
function isObjectOf(object: string, path: string): boolean {
  return object.endsWith(`/${path}`) && ID.test(object.slice(0, -path.length - 1));
}

/** All backups of a target, oldest first. */
export async function findBackups(target: BackupTarget): Promise<readonly FoundBackup[]> {
  const objects = await target.list();
  const lengths = new Map(objects.map(({ name, byteLength }) => [name, byteLength]));
  const ids = new Set(objects.map(({ name }) => name.slice(0, name.indexOf("/"))).filter((id) => ID.test(id)));
  const found: FoundBackup[] = [];
  for (const id of [...ids].sort()) found.push(await findBackup(target, id, lengths));
  return found;
}

async function findBackup(target: BackupTarget, id: string, lengths: ReadonlyMap<string, number>): Promise<FoundBackup> {
  const name = manifestName(id);
  const byteLength = lengths.get(name);
  if (byteLength === undefined) return { kind: "unfinished", id };
  try {
    const manifest = decodeManifest(await readAll(target, name, byteLength));
    if (manifest.id !== id) throw new Error(`it is of backup ${manifest.id}`);
    const lacking = manifest.files.find((file) => lengths.get(file.object) !== file.byteLength);
    if (lacking === undefined) return { kind: "whole", id, manifest };
    const there = lengths.get(lacking.object);
    throw new Error(`${lacking.object} ${there === undefined ? "is missing" : `has ${there} bytes of ${lacking.byteLength}`}`);
  } catch (error) {
    return { kind: "damaged", id, why: errorText(error) };
  }
}

async function readAll(target: BackupTarget, name: string, byteLength: number): Promise<Uint8Array> {
  if (byteLength > MANIFEST_BYTES_MAX) throw new Error(`${name} has ${byteLength} bytes, more than a manifest`);
  const bytes = new Uint8Array(byteLength);
  let at = 0;
  for await (const piece of target.read(name)) {
    if (at + piece.length > byteLength) throw new Error(`${name} is longer than ${byteLength} bytes`);
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes.subarray(0, at);
}

/** Bytes as pieces. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function sha256Of(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
