/**
 * The meta store: its pages, its entries by their checksums, the seal that counts them, its journal, and whether its entries fit together.
 * A copy is opened, so that the directory stays as it is: SQLite would move the journal into the database.
 */
import { ONE_SHARD, Shards } from "../../engine/schema/shards.ts";
import { Database } from "bun:sqlite";
import { copyFile, mkdtemp, open, rm, stat } from "node:fs/promises";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorText } from "../../base/error.ts";
import type { TableId } from "../../base/units.ts";
import { decodeFile, decodeSchema, LOG_KEY, numberOf, objectOf } from "../../engine/schema/meta-codec.ts";
import { decodeView } from "../../engine/schema/view-entries.ts";
import { type MetaValue, SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import { checkAll, type StoredEntry, VERSION, VERSION_SHARDS } from "../../storage/meta-store/sqlite-layout.ts";
import { type DataFile, dataFileName } from "../../storage/sst/data-file.ts";
import { checkJournal } from "./check-journal.ts";
import type { CheckSink } from "./finding.ts";
import { RangeMap } from "./range-map.ts";
import { addUsed, headerFaults, pageBytesOf, UNUSED_HEADER } from "./sqlite-map.ts";

const FILE = "meta.db";
const HEADER_BYTES = 100;
/** Fields of the header: how often it was changed, and its length in pages. */
const COUNTER_AT = 24;
const LENGTH_AT = 28;
const NO_PAGES: ReadonlyMap<number, number> = new Map();
const ADVICE =
  "restore the store, or its meta.db, from a backup (varve restore); without one, read the data files, which are Parquet, into a new one";
const MEANS = "the server does not start: it would not know which tables and files there are";

/** What the rest of a check needs of the entries. */
export interface KnownStore {
  readonly files: readonly DataFile[];
  /** Ids of tables, and the sequence up to which each is in files. */
  readonly flushed: ReadonlyMap<TableId, number>;
  readonly nextFileId: number;
  readonly nextTableId: number;
  /** Whether there must be a log. */
  readonly hasLog: boolean;
  /** The table of a region. */
  readonly tableOf: (region: TableId) => TableId;
}

/** Checks the meta store of a data directory; undefined when it cannot be read. */
export async function checkMeta(home: string, sink: CheckSink): Promise<KnownStore | undefined> {
  const file = join(home, FILE);
  const journal = `${file}-wal`;
  const journalBytes = await sizeOf(journal);
  const inJournal = journalBytes > 0 ? await checkJournal(journal, `${FILE}-wal`, sink) : NO_PAGES;
  await checkHeader(file, journalBytes === 0, inJournal.has(1), sink);
  const folder = await mkdtemp(join(tmpdir(), "varve-check-"));
  try {
    await copyFile(file, join(folder, FILE));
    if (journalBytes > 0) await copyFile(journal, join(folder, `${FILE}-wal`));
    tellUnused(file, journalBytes > 0 ? journal : undefined, inJournal, sink);
    return readStore(join(folder, FILE), sink);
  } catch (error) {
    sink.finding({ file: FILE, what: errorText(error), means: MEANS, advice: ADVICE });
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Bytes of a file; 0 when it is not there. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
    throw error;
  }
}

/** Where the header counts: a length is that of the last commit, which may be in the journal, as the first page may be. */
async function checkHeader(path: string, isAlone: boolean, isReplaced: boolean, sink: CheckSink): Promise<void> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const header = new Uint8Array(HEADER_BYTES);
    await file.read(header, 0, header.length, 0);
    sink.read(size);
    for (const { offset, what } of headerFaults(header, size)) {
      if ((offset === LENGTH_AT && !isAlone) || (offset === COUNTER_AT && isReplaced)) continue;
      sink.finding({ file: FILE, offset, what, means: MEANS, advice: ADVICE });
    }
  } finally {
    await file.close();
  }
}

function readStore(path: string, sink: CheckSink): KnownStore | undefined {
  const database = new Database(path, { strict: true, readwrite: true });
  try {
    const version = database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
    if (version === 1)
      sink.note("the meta store is of version 1, whose entries have no checksums: a start of this version gives them some");
    else if (version !== VERSION && version !== VERSION_SHARDS) {
      sink.finding({
        file: FILE,
        offset: 60,
        what: `it has format version ${version}; this Varve knows up to ${VERSION_SHARDS}`,
        means: MEANS,
        advice: ADVICE,
      });
      return undefined;
    }
    if (version !== 1) checkAll(database);
    checkTables(database, sink);
    return new Entries(sink).read(database.query<StoredEntry, []>("SELECT key, value FROM meta ORDER BY key").iterate());
  } finally {
    database.close();
  }
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
}

function checkTables(database: Database, sink: CheckSink): void {
  for (const { type, name, tbl_name: table } of database.query<SchemaRow, []>("SELECT type, name, tbl_name FROM sqlite_schema").all()) {
    if (type === "table" && name === table && (name === "meta" || name === "seal")) continue;
    sink.finding({ file: FILE, what: `it has a ${type} ${name} of table ${table}`, means: MEANS, advice: ADVICE });
  }
}

/** Names the bytes of the database file that nobody uses. One that cannot be walked through is damaged, which SQLite says better. */
function tellUnused(file: string, journal: string | undefined, inJournal: ReadonlyMap<number, number>, sink: CheckSink): void {
  const pages = openPages(file, journal, inJournal);
  try {
    const used = new RangeMap();
    const isReplaced = inJournal.has(1);
    addUsed((number) => pages.read(number), pages.pageBytes, inJournal, used);
    for (const { from, to } of used.gaps(pages.fileBytes)) sink.unused({ file: FILE, from, to, why: "free space of the database" });
    for (const range of isReplaced ? [] : UNUSED_HEADER) sink.unused({ file: FILE, ...range });
    if (journal !== undefined)
      sink.unused({ file: FILE, from: LENGTH_AT, to: LENGTH_AT + 4, why: "its length, which the journal says anew" });
  } catch (error) {
    sink.note(`${FILE} cannot be walked through to tell its free space: ${errorText(error)}`);
  } finally {
    pages.close();
  }
}

interface OpenPages {
  readonly pageBytes: number;
  readonly fileBytes: number;
  /** A page as of the last commit; valid until the next is read. */
  read(number: number): Uint8Array;
  close(): void;
}

function openPages(file: string, journal: string | undefined, inJournal: ReadonlyMap<number, number>): OpenPages {
  const fd = openSync(file, "r");
  const journalFd = journal === undefined ? undefined : openSync(journal, "r");
  const header = new Uint8Array(HEADER_BYTES);
  readSync(fd, header, 0, header.length, 0);
  const page = new Uint8Array(pageBytesOf(header));
  return {
    pageBytes: page.length,
    fileBytes: fstatSync(fd).size,
    read(number) {
      const at = inJournal.get(number);
      const from = at === undefined || journalFd === undefined ? { fd, at: (number - 1) * page.length } : { fd: journalFd, at };
      const read = readSync(from.fd, page, 0, page.length, from.at);
      if (read !== page.length) throw new Error(`page ${number} is not there`);
      return page;
    },
    close() {
      closeSync(fd);
      if (journalFd !== undefined) closeSync(journalFd);
    },
  };
}

/** Entries as they are read, held against each other. */
class Entries {
  private readonly sink: CheckSink;
  private readonly files: DataFile[] = [];
  private readonly flushed = new Map<TableId, number>();
  private readonly tables = new Map<TableId, string>();
  private nextFileId = 1;
  private nextTableId = 1;
  private hasLog = false;
  private shards: Shards = ONE_SHARD;

  constructor(sink: CheckSink) {
    this.sink = sink;
  }

  read(entries: Iterable<StoredEntry>): KnownStore {
    for (const { key, value } of entries) {
      try {
        this.take(key, JSON.parse(value) as MetaValue);
      } catch (error) {
        this.say(`entry ${key}: ${errorText(error)}`);
      }
    }
    this.compare();
    const { files, flushed, nextFileId, nextTableId, hasLog, shards } = this;
    return { files, flushed, nextFileId, nextTableId, hasLog, tableOf: (region) => shards.tableOf(region) };
  }

  private take(key: string, value: MetaValue): void {
    const kind = key.slice(0, key.indexOf("/") < 0 ? key.length : key.indexOf("/"));
    switch (kind) {
      case "table": {
        const { schema } = decodeSchema(key, value);
        if (!key.endsWith(String(schema.id).padStart(10, "0"))) this.say(`entry ${key} is of table ${schema.id}`);
        this.tables.set(schema.id, `${schema.database}.${schema.name}`);
        return;
      }
      case "file":
        this.files.push(decodeFile(key, value));
        return;
      case "flushed":
        this.flushed.set(Number(key.slice("flushed/".length)) as TableId, numberOf(key, value)); // As the key was made.
        return;
      case "view":
        decodeView(key, value);
        return;
      case "database":
        objectOf(key, value);
        return;
      case "next":
        if (key === "next/table") this.nextTableId = numberOf(key, value);
        else if (key === "next/file") this.nextFileId = numberOf(key, value);
        return;
      case LOG_KEY:
        this.hasLog = true;
        return;
      case SHARDS_KEY:
        this.shards = new Shards(numberOf(key, value));
        return;
      case "unclean":
      case "unverified":
      case "probe":
        return;
      default:
        this.sink.note(`the meta store has an entry ${key}, which this Varve does not know: a newer one wrote it`);
    }
  }

  /** Whether files are of tables, and ids below those that are given out next. */
  private compare(): void {
    for (const file of this.files) {
      const table = Number(file.name.split("/")[1]) as TableId; // A name that is no data file's is told below.
      if (file.name !== dataFileName(table, file.id)) this.say(`the entry of file ${file.id} names ${file.name}`);
      if (!this.tables.has(this.shards.tableOf(table))) this.say(`file ${file.name} is of a table that there is not`);
      if (file.id >= this.nextFileId) this.say(`file ${file.name} has an id that was not given out: ${this.nextFileId} is the next`);
      const flushed = this.flushed.get(table) ?? 0;
      if (file.sequence > flushed)
        this.say(`file ${file.name} has rows up to ${file.sequence}, and its table is in files up to ${flushed}`);
    }
    for (const [id, name] of this.tables) {
      if (id >= this.nextTableId) this.say(`table ${name} has an id that was not given out: ${this.nextTableId} is the next`);
    }
    for (const table of this.tables.keys())
      for (const id of this.shards.regionsOf(table)) if (!this.flushed.has(id)) this.flushed.set(id, 0);
  }

  private say(what: string): void {
    this.sink.finding({
      file: FILE,
      what,
      means: "the entries do not fit together: a start is refused, or queries of the table fail",
      advice: ADVICE,
    });
  }
}
