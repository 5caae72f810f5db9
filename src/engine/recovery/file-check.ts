/**
 * What a start makes of the data files that it finds beside the entries of the meta store.
 *
 * | entry | file                                                                  | what                                              |
 * |-------|-----------------------------------------------------------------------|---------------------------------------------------|
 * | yes   | there                                                                 | the table's                                       |
 * | yes   | missing, or of another length                                         | said (`health/damaged-files.ts`); reads fail      |
 * | no    | its id, or its table's, was never given out                           | the start is refused: the meta store is older     |
 * |       |                                                                       | than the files, and deleting them would lose rows |
 * | no    | its table does not exist                                              | left by a drop: deleted, its folder too           |
 * | no    | rows up to a flushed sequence, no file of the table is missing        | left by a merge or truncation: deleted            |
 * | no    | rows up to a sequence that is not flushed, and the log has its record | left by a flush that was cut short: deleted       |
 * | no    | any other of an existing table                                        | said and left alone: nothing else has its rows    |
 * | no    | no data file's name                                                   | said and left alone: not of this server           |
 *
 * Of a shard that has owners one after the other, each with a manifest that it took over from the one before, and a log elsewhere:
 *
 * | entry | file                                                                  | what                                              |
 * |-------|-----------------------------------------------------------------------|---------------------------------------------------|
 * | yes   | as above                                                              | as above                                          |
 * | no    | its id was given out since the manifest was taken over                | left alone: a later owner's                       |
 * | no    | its table's id is not known to have been given out                    | left alone: the catalogue here is late            |
 * | no    | any other, no file of the table is missing                            | left by an owner before, whose commits are        |
 * |       |                                                                       | refused from now on: deleted                      |
 *
 * Ids are given out by a durable commit before a file is begun, so no crash makes a file with an id that was not. What is left alone comes
 * of a meta store that was put back from a copy, of a log that was taken away or lost its end (wal.sync = interval or never), of damage.
 */
import { tableId, type TableId } from "../../base/units.ts";
import { DbError } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import { dataFileName, tableFolder } from "../../storage/sst/data-file.ts";
import { fileSequence } from "../../storage/sst/read/file-sequence.ts";

/** What the meta store knows. */
export interface KnownFiles {
  /** Names of files with an entry. */
  readonly names: ReadonlySet<string>;
  /** Sequences up to which rows are in files, by table; a table that is not here does not exist. */
  readonly flushed: ReadonlyMap<TableId, number>;
  /** Ids from these on were never given out. */
  readonly nextFileId: number;
  readonly nextTableId: number;
  /** Whether the files are those of a shard that has owners one after the other. Default: no. */
  readonly isOwned?: boolean;
  /** What folders of tables lie in, with a `/` at its end. Default: nothing. */
  readonly folder?: string | undefined;
  /** The table of a region: by default they have one id. */
  readonly tableOf?: (region: TableId) => TableId;
}

/** What is to be done with one file. `doubt`: it depends on whether the log has the record of its sequence. */
export type FileVerdict = "keep" | "delete" | "refuse" | "foreign" | "leave" | "doubt";

/** Most foreign or unclaimed files that are named in the log. */
const NAMED_MAX = 20;

const UNCLAIMED =
  "a data file has rows that neither the meta store nor the log knows; it is left alone: " +
  "if an older meta store was put back, stop and put the right one back";

/**
 * The table of the file header, for a file that is there.
 *
 * @param sequence of its newest row, undefined when it cannot be read
 * @param isMissing whether its table lacks a file that has an entry
 */
export function judgeFile(name: string, sequence: number | undefined, isMissing: boolean, known: KnownFiles): FileVerdict {
  if (known.names.has(name)) return "keep";
  const id = idsOf(name, known);
  if (id === undefined) return "foreign";
  const isLater = id.file >= known.nextFileId || (known.tableOf?.(id.table) ?? id.table) >= known.nextTableId;
  if (known.isOwned === true) {
    if (isLater) return "keep";
    return known.flushed.has(id.table) && isMissing ? "leave" : "delete";
  }
  if (isLater) return "refuse";
  const flushed = known.flushed.get(id.table);
  if (flushed === undefined) return "delete";
  if (sequence === undefined) return "leave";
  if (sequence > flushed) return "doubt";
  return isMissing ? "leave" : "delete";
}

/** One start's check: `begin` before the log is read, `sawRecord` for each entry of it, `end` after it. */
export class FileCheck {
  private readonly store: FileStore;
  private readonly known: KnownFiles;
  private readonly logger: Logger;
  /** Files that wait for a record, by table and sequence. */
  private readonly doubtful: Map<string, string[]> = new Map();
  /** Files whose record the log has. */
  private readonly cleared: string[] = [];

  constructor(store: FileStore, known: KnownFiles, logger: Logger) {
    this.store = store;
    this.known = known;
    this.logger = logger;
  }

  /**
   * Does what the file header says, as far as that is known before the log is read. Returns the files that are there.
   *
   * @throws DbError StorageUnavailable when the meta store is older than the files; nothing is deleted then
   */
  async begin(): Promise<ReadonlySet<string>> {
    const { store, known, logger } = this;
    const found = await store.list(`${known.folder ?? ""}tables`, (folder) => isOfNoTable(folder, known));
    const present = new Set(found);
    const missing = [...known.names].filter((name) => !present.has(name));
    const lacking = new Set(missing.map((name) => idsOf(name, known)?.table));
    const verdicts = new Map<string, FileVerdict>();
    for (const name of found) {
      const sequence = await this.sequenceOf(name);
      const verdict = judgeFile(name, sequence, lacking.has(idsOf(name, known)?.table), known);
      verdicts.set(name, verdict);
      if (verdict === "doubt") this.addDoubt(name, sequence ?? 0);
    }
    const named = (verdict: FileVerdict): string[] => found.filter((name) => verdicts.get(name) === verdict);
    const newer = named("refuse");
    if (newer.length > 0) throw olderThanFiles(newer, known);
    const foreign = named("foreign");
    say(foreign, (file) =>
      logger.warn({ file, files: foreign.length }, "a file in the data folder is not of this server; it is left alone"),
    );
    this.sayUnclaimed(named("leave"));
    await this.delete(named("delete"), foreign);
    return present;
  }

  /** Notes that the log has rows of a table under a sequence. */
  sawRecord(table: TableId, sequence: number): void {
    if (this.doubtful.size === 0) return;
    const names = this.doubtful.get(keyOf(table, sequence));
    if (names !== undefined) this.cleared.push(...names);
    this.doubtful.delete(keyOf(table, sequence));
  }

  /** Deletes what a flush that was cut short left: the log has its rows. */
  async end(): Promise<void> {
    this.sayUnclaimed([...this.doubtful.values()].flat());
    await this.delete(this.cleared, []);
  }

  /** Only files without an entry of a table that exists are opened: there are few of them, or none. */
  private async sequenceOf(name: string): Promise<number | undefined> {
    const table = idsOf(name, this.known)?.table;
    if (this.known.isOwned === true) return undefined; // No file is judged by it.
    if (this.known.names.has(name) || table === undefined || !this.known.flushed.has(table)) return undefined;
    return fileSequence(name, this.store);
  }

  private addDoubt(name: string, sequence: number): void {
    const key = keyOf(idsOf(name, this.known)?.table, sequence);
    const names = this.doubtful.get(key);
    if (names === undefined) this.doubtful.set(key, [name]);
    else names.push(name);
  }

  private sayUnclaimed(files: readonly string[]): void {
    say(files, (file) => this.logger.error({ file, files: files.length }, UNCLAIMED));
  }

  /** Deletes files, and the folders of tables that do not exist, unless one of `kept` lies there. */
  private async delete(names: readonly string[], kept: readonly string[]): Promise<void> {
    const folders = new Set<string>();
    for (const name of names) {
      await this.store.delete(name);
      failPoint("recover.orphan-deleted");
      const table = idsOf(name, this.known)?.table;
      if (table !== undefined && !this.known.flushed.has(table)) folders.add(tableFolder(table, this.known.folder));
    }
    for (const folder of folders) if (!kept.some((name) => name.startsWith(`${folder}/`))) await this.store.deleteFolder(folder);
  }
}

/** Of a file's table, or of one that no record has. */
function keyOf(table: TableId | undefined, sequence: number): string {
  return `${table} ${sequence}`;
}

function say(files: readonly string[], tell: (file: string) => void): void {
  for (const file of files.slice(0, NAMED_MAX)) tell(file);
}

/** Ids in the name of a data file; undefined for another name. */
function idsOf(name: string, { folder = "" }: KnownFiles): { readonly table: TableId; readonly file: number } | undefined {
  const digits = /^tables\/(\d{10,16})\/(\d{10,16})\.parquet$/.exec(name.slice(folder.length));
  if (digits === null || !name.startsWith(folder)) return undefined;
  const table = tableId(Number(digits[1]));
  const file = Number(digits[2]);
  return dataFileName(table, file, folder) === name ? { table, file } : undefined;
}

/** Whether a folder is that of a table that does not exist: what a drop left that was cut short. */
function isOfNoTable(name: string, { flushed, folder = "", isOwned, tableOf, nextTableId }: KnownFiles): boolean {
  const digits = /^tables\/(\d{10,16})$/.exec(name.slice(folder.length));
  if (digits === null || !name.startsWith(folder)) return false;
  const region = tableId(Number(digits[1]));
  if (isOwned === true && (tableOf?.(region) ?? region) >= nextTableId) return false;
  return !flushed.has(region);
}

function olderThanFiles(newer: readonly string[], { nextFileId, nextTableId }: KnownFiles): DbError {
  const others = newer.length === 1 ? "" : ` and ${newer.length - 1} more files`;
  return new DbError(
    StatusCode.StorageUnavailable,
    `cannot open the data: the meta store is older than file ${newer[0] ?? ""}${others}: it has given out ids of files below ` +
      `${nextFileId} and of tables below ${nextTableId} only; put the meta store back that belongs to these files, or move them out of ` +
      "the data folder to go on without their rows",
  );
}
