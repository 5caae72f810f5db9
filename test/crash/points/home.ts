/**
 * A data directory with an engine on the parts of a server: log, SQLite, files. Flushes and merges run in place, so that every fail point
 * is passed on this thread, and a copy of the directory at that moment is what a SIGKILL there leaves.
 */
import { tableId } from "../../../src/base/units.ts";
import { Shards } from "../../../src/engine/schema/shards.ts";
import { tableFolder } from "../../../src/storage/sst/data-file.ts";
import { Database } from "bun:sqlite";
import { appendFileSync, cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { OPEN_FILES_MAX } from "../../../src/base/limits.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { Engine } from "../../../src/engine/engine.ts";
import type { ThreadLog } from "../../../src/engine/log/log-stream.ts";
import { IngestThread } from "../../../src/engine/threads/ingest-thread.ts";
import { SharedState } from "../../../src/engine/threads/shared-state.ts";
import { type FileDisk, systemFileDisk } from "../../../src/storage/file-store/file-disk.ts";
import { localFileStore } from "../../../src/storage/file-store/local-file-store.ts";
import { openSqliteMetaStore } from "../../../src/storage/meta-store/sqlite-meta-store.ts";
import { openLocalWal } from "../../../src/storage/wal/local-wal.ts";
import { listThreadLogs, removeThreadLog, threadLogFolder } from "../../../src/storage/wal/thread-logs.ts";
import type { Wal, WalSync } from "../../../src/storage/wal/wal.ts";
import { plainParts } from "../../engine/plain-parts.ts";
import { makeLinks } from "../../engine/thread-links.ts";
import { unexpectedBug } from "../../engine/unexpected-bug.ts";
import { FaultyLogDisk } from "../../support/faulty-log-disk.ts";
import { TEST_SHARDS } from "../../support/shard-count.ts";
import type { CampaignStore } from "../store.ts";

/** Segments so small that each write of a few rows begins one. */
const SEGMENT_BYTES = 200;
/** Number of the ingest thread; there is one at most. */
const THREAD = 1;

/** An engine that runs in a directory. */
export interface Home {
  readonly path: string;
  readonly engine: Engine;
  /** An ingest thread with a log of its own, when it was asked for. */
  readonly thread: IngestThread | undefined;
  /** The disk of the engine's own log. */
  readonly disk: FaultyLogDisk;
  /** From now on flushes and merges stand still once their files are durable. Resolves when one does. */
  hold(): Promise<void>;
  release(): void;
}

/** How an engine is opened. */
export interface HomeOptions {
  readonly fileDisk?: FileDisk;
  readonly sync?: WalSync;
  /** Whether an ingest thread runs beside the engine, on this thread. */
  readonly hasThread?: boolean;
  /** Is told of bugs that would end the process; by default they fail the test. */
  readonly onBug?: (error: Error) => void;
}

/** Opens an engine in `path`, which is made when missing. */
export async function openHome(path: string, options: HomeOptions = {}): Promise<Home> {
  const { fileDisk = systemFileDisk, sync = "always", hasThread = false, onBug = unexpectedBug } = options;
  const files = localFileStore(join(path, "data"), OPEN_FILES_MAX, fileDisk);
  const disk = new FaultyLogDisk();
  const plain = plainParts(files);
  const { flusher, merger } = plain;
  let gate: { readonly stands: PromiseWithResolvers<void>; readonly opens: PromiseWithResolvers<void> } | undefined;
  const walFolder = join(path, "wal");
  const wal = await openLog(walFolder, sync, false, disk);
  const shared = new SharedState(hasThread ? THREAD : 0);
  const threadLogs: ThreadLog[] = [];
  for (const id of listThreadLogs(walFolder)) {
    const log = await openLog(threadLogFolder(walFolder, id), sync, false);
    threadLogs.push({ id, wal: log, remove: () => removeThreadLog(walFolder, id) });
  }
  const held = async <T>(made: T): Promise<T> => {
    gate?.stands.resolve();
    await gate?.opens.promise;
    return made;
  };
  const { engine } = await Engine.open({
    wal,
    shared,
    threadLogs,
    shards: TEST_SHARDS,
    meta: openSqliteMetaStore(join(path, "meta.db")),
    ...plain,
    onBug,
    flusher: { flush: async (job) => held(await flusher.flush(job)), close: () => flusher.close() },
    merger: { merge: async (job) => held(await merger.merge(job)), close: () => merger.close() },
  });
  return {
    path,
    engine,
    thread: hasThread ? await startThread(engine, shared, walFolder, sync, onBug) : undefined,
    disk,
    hold() {
      gate ??= { stands: Promise.withResolvers(), opens: Promise.withResolvers() };
      return gate.stands.promise;
    },
    release() {
      gate?.opens.resolve();
      gate = undefined;
    },
  };
}

function openLog(directory: string, sync: WalSync, isRecovered: boolean, disk = new FaultyLogDisk()): Promise<Wal> {
  const options = { syncIntervalMs: 5, segmentBytes: SEGMENT_BYTES, recovery: "strict", logger: silentLogger } as const;
  return openLocalWal({ directory, sync, isRecovered, disk, ...options });
}

/** As the program of an ingest thread does, but on this thread. */
async function startThread(
  engine: Engine,
  shared: SharedState,
  walFolder: string,
  sync: WalSync,
  onBug: (error: Error) => void,
): Promise<IngestThread> {
  const links = makeLinks();
  await engine.addThread(THREAD, links.owner);
  const wal = await openLog(threadLogFolder(walFolder, THREAD), sync, true);
  await wal.recover(() => undefined);
  const rest = { shards: TEST_SHARDS, writeBufferBytes: Number.POSITIVE_INFINITY, pooledBytes: 1 << 20, onBug };
  return new IngestThread({ id: THREAD, shared, link: links.thread, wal, clock: systemClock, news: engine.catalogNews(), ...rest });
}

/** Copies a directory as it is now: what a SIGKILL at this moment leaves. */
export function copyHome(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
}

/** Puts bytes that are no record behind the newest log segment, as a torn write does. Returns whether there is a segment. */
export function tearLog(path: string): boolean {
  const segments = readdirSync(join(path, "wal")).filter((name) => name.endsWith(".log"));
  const newest = segments.sort().at(-1);
  if (newest === undefined) return false;
  appendFileSync(join(path, "wal", newest), new Uint8Array(77).fill(0x56));
  return true;
}

/** Files, unfinished files and folders that the meta store does not name, and entries without a file. Empty is good. */
export function strayFiles(path: string): string[] {
  const { strays, missing } = comparedFiles(path);
  return [...strays, ...missing.map((name) => `missing: ${name}`)].sort();
}

/** The same of a server whose files lie in a store, with copies of some of them here. */
export async function strayObjects(path: string, store: CampaignStore): Promise<string[]> {
  const strays = comparedFiles(path).strays.map((name) => `the copy ${name}`);
  const { known } = namedFiles(path);
  for (const [name, byteLength] of await store.objects()) {
    const want = known.get(name);
    known.delete(name);
    if (want === undefined) strays.push(`the object ${name}`);
    else if (want !== byteLength) strays.push(`the object ${name} of ${byteLength} instead of ${want} bytes`);
  }
  const uploads = await store.openUploads();
  if (uploads > 0) strays.push(`an upload in parts that nobody goes on with (of ${uploads})`);
  return [...strays, ...[...known.keys()].map((name) => `missing: ${name}`)].sort();
}

/** What the meta store names: files with their lengths, and the folders of tables. */
export function namedFiles(path: string): { readonly known: Map<string, number>; readonly folders: ReadonlySet<string> } {
  const meta = new Database(join(path, "meta.db"));
  const tables = meta.query<{ key: string }, []>("SELECT key FROM meta WHERE key LIKE 'table/%'").all();
  const entries = meta.query<{ value: string }, []>("SELECT value FROM meta WHERE key LIKE 'file/%'").all();
  const shards = new Shards(Number(meta.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'shards'").get()?.value ?? 1));
  meta.close();
  const regions = tables.flatMap(({ key }) => shards.regionsOf(tableId(Number(key.slice("table/".length)))));
  const files = entries.map(({ value }) => JSON.parse(value) as { readonly name: string; readonly byteLength: number });
  return {
    known: new Map(files.map(({ name, byteLength }) => [name, byteLength])),
    folders: new Set(["tables", ...regions.map((id) => tableFolder(id))]),
  };
}

function comparedFiles(path: string): { readonly strays: readonly string[]; readonly missing: readonly string[] } {
  const { known, folders } = namedFiles(path);
  const found = existsSync(join(path, "data")) ? readdirSync(join(path, "data"), { recursive: true, withFileTypes: true }) : [];
  const strays: string[] = [];
  for (const entry of found) {
    const name = join(entry.parentPath, entry.name).slice(join(path, "data").length + 1);
    const isKnown = entry.isFile() ? known.delete(name) : folders.has(name);
    if (!isKnown) strays.push(name);
  }
  return { strays, missing: [...known.keys()] };
}
