/**
 * What a start makes of the data files that it finds beside the entries of the meta store.
 *
 * | entry | file                              | what                                                                              |
 * |-------|-----------------------------------|-----------------------------------------------------------------------------------|
 * | yes   | there                             | the table's                                                                       |
 * | yes   | missing                           | said; the table is there, and reads that need the file fail with its name         |
 * | no    | there, its id was given out       | left by a flush, merge or drop that was cut short: deleted, an unknown table's     |
 * |       |                                   | folder too                                                                        |
 * | no    | there, its id was never given out | the start is refused: the meta store is older than the files, so that deleting    |
 * |       |                                   | them would lose rows                                                              |
 * | no    | there, no data file's name        | said and left alone: not of this server                                           |
 *
 * Ids are given out by a durable commit before a file is begun, so no crash makes a file with an id that was not.
 */
import { DbError } from "../base/error.ts";
import { failPoint } from "../base/fail-point.ts";
import type { Logger } from "../base/log.ts";
import { StatusCode } from "../base/status-code.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import { dataFileName, tableFolder } from "../storage/sst/data-file.ts";

/** What the meta store knows. */
export interface KnownFiles {
  /** Names of files with an entry. */
  readonly names: ReadonlySet<string>;
  readonly tableIds: ReadonlySet<number>;
  /** Ids from this one on were never given out. */
  readonly nextFileId: number;
}

/** What is to be done with one file. */
export type FileVerdict = "keep" | "delete" | "refuse" | "foreign";

/** Most missing or foreign files that are named in the log. */
const NAMED_MAX = 20;

/** The table of the file header, for a file that is there. */
export function judgeFile(name: string, known: KnownFiles): FileVerdict {
  if (known.names.has(name)) return "keep";
  const id = idsOf(name);
  if (id === undefined) return "foreign";
  return id.file < known.nextFileId ? "delete" : "refuse";
}

/**
 * Does what the file header says.
 *
 * @throws DbError StorageUnavailable when the meta store is older than the files; nothing is deleted then
 */
export async function checkFiles(store: FileStore, known: KnownFiles, logger: Logger): Promise<void> {
  const found = await store.list("tables");
  const verdicts = found.map((name) => judgeFile(name, known));
  const newer = found.filter((_, i) => verdicts[i] === "refuse");
  if (newer.length > 0) throw olderThanFiles(newer, known.nextFileId);
  const present = new Set(found);
  const missing = [...known.names].filter((name) => !present.has(name));
  const foreign = found.filter((_, i) => verdicts[i] === "foreign");
  say(missing, (file) => logger.error({ file, files: missing.length }, "a data file is missing: its rows cannot be read"));
  say(foreign, (file) => logger.warn({ file, files: foreign.length }, "a file in the data folder is not of this server; it is left alone"));
  const folders = new Set<string>();
  for (const [i, name] of found.entries()) {
    if (verdicts[i] !== "delete") continue;
    await store.delete(name);
    failPoint("recover.orphan-deleted");
    const table = idsOf(name)?.table;
    if (table !== undefined && !known.tableIds.has(table)) folders.add(tableFolder(table));
  }
  for (const folder of folders) if (!foreign.some((name) => name.startsWith(`${folder}/`))) await store.deleteFolder(folder);
}

function say(files: readonly string[], tell: (file: string) => void): void {
  for (const file of files.slice(0, NAMED_MAX)) tell(file);
}

/** Ids in the name of a data file; undefined for another name. */
function idsOf(name: string): { readonly table: number; readonly file: number } | undefined {
  const digits = /^tables\/(\d{10,16})\/(\d{10,16})\.parquet$/.exec(name);
  if (digits === null) return undefined;
  const table = Number(digits[1]);
  const file = Number(digits[2]);
  return dataFileName(table, file) === name ? { table, file } : undefined;
}

function olderThanFiles(newer: readonly string[], nextFileId: number): DbError {
  const others = newer.length === 1 ? "" : ` and ${newer.length - 1} more files`;
  return new DbError(
    StatusCode.StorageUnavailable,
    `cannot open the data: the meta store is older than file ${newer[0] ?? ""}${others}: it has given out file ids below ` +
      `${nextFileId} only` +
      "; put the meta store back that belongs to these files, or move them out of the data folder to go on without their rows",
  );
}
