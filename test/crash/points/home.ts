/**
 * A data directory with an engine on the parts of a server: log, SQLite, files. Flushes and merges run in place, so that every fail point
 * is passed on this thread, and a copy of the directory at that moment is what a SIGKILL there leaves.
 */
import { Database } from "bun:sqlite";
import { appendFileSync, cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { OPEN_FILES_MAX } from "../../../src/base/limits.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { type FileDisk, systemFileDisk } from "../../../src/storage/file-store/file-disk.ts";
import { localFileStore } from "../../../src/storage/file-store/local-file-store.ts";
import { openSqliteMetaStore } from "../../../src/storage/meta-store/sqlite-meta-store.ts";
import { openLocalWal } from "../../../src/storage/wal/local-wal.ts";
import type { WalSync } from "../../../src/storage/wal/wal.ts";
import { plainParts } from "../../engine/plain-parts.ts";
import { FaultyLogDisk } from "../../support/faulty-log-disk.ts";

/** Segments so small that each write of a few rows begins one. */
const SEGMENT_BYTES = 200;

/** An engine that runs in a directory. */
export interface Home {
  readonly path: string;
  readonly engine: Engine;
  readonly disk: FaultyLogDisk;
  /** From now on flushes and merges stand still once their files are durable. */
  hold(): void;
  release(): void;
}

/** Opens an engine in `path`, which is made when missing. */
export async function openHome(path: string, fileDisk: FileDisk = systemFileDisk, sync: WalSync = "always"): Promise<Home> {
  const files = localFileStore(join(path, "data"), OPEN_FILES_MAX, fileDisk);
  const disk = new FaultyLogDisk();
  const plain = plainParts(files);
  const { flusher, merger } = plain;
  let gate: PromiseWithResolvers<void> | undefined;
  const wal = await openLocalWal({
    directory: join(path, "wal"),
    sync,
    syncIntervalMs: 5,
    segmentBytes: SEGMENT_BYTES,
    recovery: "strict",
    logger: silentLogger,
    disk,
  });
  const held = async <T>(made: T): Promise<T> => {
    await gate?.promise;
    return made;
  };
  const { engine } = await Engine.open({
    wal,
    meta: openSqliteMetaStore(join(path, "meta.db")),
    ...plain,
    flusher: { flush: async (job) => held(await flusher.flush(job)), close: () => flusher.close() },
    merger: { merge: async (job) => held(await merger.merge(job)), close: () => merger.close() },
  });
  return {
    path,
    engine,
    disk,
    hold: () => void (gate ??= Promise.withResolvers<void>()),
    release() {
      gate?.resolve();
      gate = undefined;
    },
  };
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
  const meta = new Database(join(path, "meta.db"));
  const tables = meta.query<{ key: string }, []>("SELECT key FROM meta WHERE key LIKE 'table/%'").all();
  const entries = meta.query<{ value: string }, []>("SELECT value FROM meta WHERE key LIKE 'file/%'").all();
  meta.close();
  const known = new Set(entries.map(({ value }) => (JSON.parse(value) as { readonly name: string }).name));
  const used = new Set(["tables", ...tables.map(({ key }) => `tables/${key.slice("table/".length)}`)]);
  const found = existsSync(join(path, "data")) ? readdirSync(join(path, "data"), { recursive: true, withFileTypes: true }) : [];
  const strays: string[] = [];
  for (const entry of found) {
    const name = join(entry.parentPath, entry.name).slice(join(path, "data").length + 1);
    const isKnown = entry.isFile() ? known.delete(name) : used.has(name);
    if (!isKnown) strays.push(name);
  }
  return [...strays, ...[...known].map((name) => `missing: ${name}`)].sort();
}
