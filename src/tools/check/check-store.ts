/**
 * A data directory that no server uses, all of it:
 *
 *   meta store (pages, entries, journal) ─► data files that it names ─► files that it does not name ─► log ─► what else lies there
 */
import { type TableId, tableId } from "../../base/units.ts";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { localFileStore } from "../../storage/file-store/local-file-store.ts";
import type { RemoteFileStore } from "../../storage/file-store/remote-file-store.ts";
import { checkDataFile } from "./check-data-file.ts";
import { checkLogs, foreignLogFiles } from "./check-log.ts";
import { checkMeta, type KnownStore } from "./check-meta.ts";
import type { CheckSink } from "./finding.ts";

/** What is checked. */
export interface CheckedPlace {
  readonly home: string;
  readonly logFolder: string;
  /** As `checkDataFile` has it. */
  readonly isQuick: boolean;
  /** The store that has the data files, and what it says that it has; undefined: they are in the data directory. */
  readonly remote?: { readonly store: RemoteFileStore; readonly lengths: ReadonlyMap<string, number> } | undefined;
}

/** How much was looked at. */
export interface CheckTotals {
  readonly dataFiles: number;
  readonly segments: number;
  readonly records: number;
}

/** Files of a data directory whose bytes nobody reads, and why. */
const UNREAD: Readonly<Record<string, string>> = {
  LOCK: "the lock: its bytes mean nothing",
  "LOCK-journal": "the journal of the lock: its bytes mean nothing",
  "LOCK.pid": "the pid of the last server, for a message",
  "meta.db-shm": "an index of the journal, which the next server makes anew",
  "store-id": "the name by which the store of the data files knows this directory",
  "threads.sock": "a socket of the last server",
};
/** Folders whose files nobody reads after a start. */
const UNREAD_FOLDERS: Readonly<Record<string, string>> = {
  tmp: "rows of queries of the last server",
  "backup-copies": "copies of the meta store of backups that are over",
  copy: "files of COPY: not the store's",
};

/** Bytes that a check reads, about. */
export async function bytesToCheck({ home, logFolder, remote }: CheckedPlace): Promise<number> {
  let bytes = 0;
  const add = async (folder: string): Promise<void> => {
    if (!existsSync(folder)) return;
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
    }
  };
  for (const name of ["meta.db", "meta.db-wal"]) if (existsSync(join(home, name))) bytes += (await stat(join(home, name))).size;
  if (remote === undefined) await add(join(home, "data"));
  else for (const byteLength of remote.lengths.values()) bytes += byteLength;
  await add(logFolder);
  return bytes;
}

/** Checks everything. */
export async function checkStore(place: CheckedPlace, sink: CheckSink): Promise<CheckTotals> {
  const { home, logFolder } = place;
  const known = await checkMeta(home, sink);
  if (known === undefined)
    sink.note("without the meta store nobody knows what data files there must be: those that are there are not checked");
  else await checkFiles(place, known, sink);
  const show = (path: string): string => {
    const shown = relative(home, path);
    return shown.startsWith("..") ? path : shown;
  };
  const facts = {
    nextTableId: known?.nextTableId ?? Number.POSITIVE_INFINITY,
    hasLog: known?.hasLog ?? false,
    tableOf: known?.tableOf ?? ((id: TableId) => id),
  };
  const logs = await checkLogs(logFolder, show, facts, sink);
  await tellRest(place, show, sink);
  return { dataFiles: known?.files.length ?? 0, ...logs };
}

async function checkFiles({ home, isQuick, remote }: CheckedPlace, known: KnownStore, sink: CheckSink): Promise<void> {
  const folder = join(home, "data");
  const store = remote?.store ?? localFileStore(folder);
  const names = new Set<string>();
  for (const file of known.files) {
    names.add(file.name);
    await checkDataFile(file, store, `data/${file.name}`, isQuick, sink);
  }
  const present = remote === undefined ? await filesBelow(folder) : [...remote.lengths.keys()];
  const sizeOf = async (name: string): Promise<number> => remote?.lengths.get(name) ?? (await stat(join(folder, name))).size;
  const there = new Set(present);
  const lacking = new Set(known.files.flatMap(({ name }) => (there.has(name) ? [] : [tableOf(name)])));
  for (const name of present) if (!names.has(name)) await tellUnnamed(name, await sizeOf(name), known, lacking, sink);
}

/** The folder of a data file's table. */
function tableOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/"));
}

/** A file that no entry names: what a start makes of it (`engine/recovery/file-check.ts`). */
async function tellUnnamed(name: string, size: number, known: KnownStore, lacking: ReadonlySet<string>, sink: CheckSink): Promise<void> {
  const file = `data/${name}`;
  sink.read(size);
  const [, table, id] = /^tables\/(\d{10})\/(\d{10})\.parquet$/.exec(name) ?? [];
  if (table === undefined || id === undefined) {
    sink.unused({ file, from: 0, to: size, why: "no file of the store" });
    return sink.note(`${file} is no file of the store: a start leaves it alone, or deletes it if its name ends in .tmp`);
  }
  if (Number(id) >= known.nextFileId || known.tableOf(tableId(Number(table))) >= known.nextTableId) {
    return sink.finding({
      file,
      what: `the meta store has given out ids of files below ${known.nextFileId} and of tables below ${known.nextTableId}`,
      means: "the meta store is older than the files: a start is refused",
      advice: "put the meta store back that belongs to these files, or restore the store from a backup",
    });
  }
  sink.unused({ file, from: 0, to: size, why: "no entry names it" });
  if (lacking.has(tableOf(name))) {
    return sink.finding({
      file,
      what: "no entry of the meta store names it, and a file of its table is missing",
      means: "its rows are in no query; a start leaves it alone",
      advice: "if an older meta store was put back, put the right one back",
    });
  }
  sink.note(`${file} is named by no entry, as what a crash leaves of a flush or a merge: a start decides`);
}

async function tellRest({ home, logFolder }: CheckedPlace, show: (path: string) => string, sink: CheckSink): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name);
    if (name === "meta.db" || name === "meta.db-wal" || name === "data" || path === logFolder) continue;
    if (name in UNREAD) await tellUnread(path, name, UNREAD[name] ?? "", sink);
    else if (name in UNREAD_FOLDERS) {
      for (const file of await filesBelow(path)) await tellUnread(join(path, file), `${name}/${file}`, UNREAD_FOLDERS[name] ?? "", sink);
    } else if (name !== "wal") sink.note(`${name} in the data directory is not the store's`);
  }
  for (const name of ["LOCK", "LOCK-journal", "LOCK.pid"])
    await tellUnread(join(logFolder, name), show(join(logFolder, name)), UNREAD[name] ?? "", sink);
  for (const path of await foreignLogFiles(logFolder)) {
    sink.note(`${show(path)} is no file of the log: a start leaves it alone`);
    await tellUnread(path, show(path), "no file of the log", sink);
  }
}

async function tellUnread(path: string, file: string, why: string, sink: CheckSink): Promise<void> {
  if (!existsSync(path)) return;
  const entry = await stat(path);
  if (entry.isFile()) sink.unused({ file, from: 0, to: entry.size, why });
}

/** Names of files below a folder, with `/`. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
