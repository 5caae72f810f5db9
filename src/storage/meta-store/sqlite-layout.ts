/**
 * The tables of the meta store's database (FORMAT.md): made, brought to the newest version, and looked through at each start. Every entry
 * has a checksum, and a seal counts and sums them all, so that neither a changed nor a vanished one goes unnoticed.
 */
import { Database } from "bun:sqlite";
import { crc32 } from "../../base/bytes/hash.ts";
import { SHARDS_KEY, UNVERIFIED_KEY } from "./meta-store.ts";

/** Version of the layout. */
export const VERSION = 2;
/** The same, with entries of several shards: an older server would not see the rows of most. */
export const VERSION_SHARDS = 4;
/** Of servers between two releases, which kept metrics in the first shard: written on, a series would lie in two. */
const VERSION_METRICS_TOGETHER = 3;

/** As `ALTER TABLE` leaves a table of version 1. */
const META_SQL = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID";
const SEAL_SQL = "CREATE TABLE seal (id INTEGER PRIMARY KEY, entries INTEGER NOT NULL, sum INTEGER NOT NULL)";
/** Sums of checksums stay exact numbers. */
const SUM_MODULUS = 2 ** 48;

/** What the seal says of all entries together. */
export interface Seal {
  readonly entries: number;
  /** Of their checksums, modulo 2^48. */
  readonly sum: number;
}

/** What is not as it was written. Its message says where. */
export class Damage extends Error {
  override readonly name = "Damage";
}

const encoder = new TextEncoder();

/** CRC-32 of key and value, which belong together. */
export function entryCrc(key: string, value: string): number {
  return crc32(encoder.encode(`${key}\0${value}`));
}

/** The seal after an entry came, changed or went; a checksum that is undefined is that of no entry. */
export function resealed({ entries, sum }: Seal, old: number | undefined, made: number | undefined): Seal {
  return {
    entries: entries + (made === undefined ? 0 : 1) - (old === undefined ? 0 : 1),
    sum: (sum + (made ?? 0) - (old ?? 0) + SUM_MODULUS) % SUM_MODULUS,
  };
}

/** Makes the tables, or brings those of an older version to this one, in one transaction. @throws Error for a newer version */
export function makeLayout(database: Database): void {
  const version = database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version > VERSION_SHARDS) throw new Error(`it has format version ${version}; this server knows up to ${VERSION_SHARDS}`);
  if (version === VERSION || version === VERSION_SHARDS) return;
  if (version === VERSION_METRICS_TOGETHER) {
    throw new Error(`it has format version ${version}, which no release had: its metrics lie in one of several shards; make the data anew`);
  }
  const tableCount = database.query("SELECT 1 FROM sqlite_schema").all().length;
  if (version === 0 && tableCount > 0) throw new Damage("it has tables and no format version");
  // A crash leaves the old state or the new one.
  database.transaction(() => {
    if (version === 0) database.run(META_SQL);
    else addChecksums(database);
    database.run(SEAL_SQL);
    const rows = database.query<{ crc: number }, []>("SELECT crc FROM meta").iterate();
    let seal: Seal = { entries: 0, sum: 0 };
    for (const { crc } of rows) seal = resealed(seal, undefined, crc);
    database.query("INSERT INTO seal (id, entries, sum) VALUES (0, ?, ?)").run(seal.entries, seal.sum);
    database.run(`PRAGMA user_version = ${VERSION}`);
  })();
}

/** Makes a database file with these entries, texts of values by their keys. @throws SQLite's error */
export function writeCopy(path: string, entries: ReadonlyMap<string, string>): void {
  const database = new Database(path, { create: true, strict: true });
  try {
    makeLayout(database);
    const put = database.query("INSERT INTO meta (key, value, crc) VALUES (?, ?, ?)");
    let seal = readSeal(database);
    for (const [key, text] of entries) {
      const crc = entryCrc(key, text);
      put.run(key, text, crc);
      seal = resealed(seal, undefined, crc);
    }
    database.query("UPDATE seal SET entries = ?, sum = ? WHERE id = 0").run(seal.entries, seal.sum);
    if (entries.has(SHARDS_KEY)) markShards(database);
  } finally {
    database.close();
  }
}

/** Has older servers refuse the database, by its version. */
export function markShards(database: Database): void {
  database.run(`PRAGMA user_version = ${VERSION_SHARDS}`);
}

/** Version 1 had no checksums: what it holds is believed this once, if the database is whole. */
function addChecksums(database: Database): void {
  checkPages(database);
  database.run("ALTER TABLE meta ADD COLUMN crc INTEGER NOT NULL DEFAULT 0");
  const update = database.query("UPDATE meta SET crc = ? WHERE key = ?");
  const keys = database.query<{ key: string }, []>("SELECT key FROM meta").all();
  const valueOf = database.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?");
  for (const { key } of keys) update.run(entryCrc(key, valueOf.get(key)?.value ?? ""), key);
  database.query("INSERT INTO meta (key, value, crc) VALUES (?, ?, ?)").run(UNVERIFIED_KEY, "true", entryCrc(UNVERIFIED_KEY, "true"));
}

/**
 * Looks through all of the database: its pages, its tables, each entry, and whether any is missing.
 *
 * @throws Damage; SQLite's error
 */
export function checkAll(database: Database): void {
  checkPages(database);
  const tables = database.query<{ sql: string | null }, []>("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").all();
  const found = tables.map(({ sql }) => sql).join("; ");
  if (found !== `${META_SQL}; ${SEAL_SQL}`) throw new Damage(`its tables are not those of a meta store: ${found}`);
  let counted: Seal = { entries: 0, sum: 0 };
  for (const { key, value, crc } of database.query<StoredEntry, []>("SELECT key, value, crc FROM meta").iterate()) {
    checkEntry(key, value, crc);
    counted = resealed(counted, undefined, crc);
  }
  const seal = readSeal(database);
  if (counted.entries === seal.entries && counted.sum === seal.sum) return;
  throw new Damage(`it has ${counted.entries} entries with checksum ${counted.sum}; ${seal.entries} with ${seal.sum} were written`);
}

/** A row of the table of entries. */
export interface StoredEntry {
  readonly key: string;
  readonly value: string;
  readonly crc: number;
}

/** @throws Damage naming the key */
export function checkEntry(key: string, value: string, crc: number): void {
  if (typeof key !== "string" || typeof value !== "string" || entryCrc(key, value) !== crc) {
    throw new Damage(`entry ${String(key)} is not as it was written: its checksum does not match`);
  }
}

/** @throws Damage */
export function readSeal(database: Database): Seal {
  const seal = database.query<Seal, []>("SELECT entries, sum FROM seal WHERE id = 0").get();
  if (!Number.isSafeInteger(seal?.entries) || !Number.isSafeInteger(seal?.sum) || seal === null) throw new Damage("it has no seal");
  return seal;
}

/** @throws Damage when pages, or the order of keys in them, are not what SQLite wrote */
function checkPages(database: Database): void {
  const said = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)").get()?.integrity_check;
  if (said !== "ok") throw new Damage(`its pages are not as they were written: ${said?.trim()}`);
}

/** Bytes of a header that say which journal a database has; 1: one that is there while a transaction runs. Source: SQLite's fileformat2. */
const JOURNAL_BYTES = [18, 19];

/**
 * The entries whose keys begin with `prefix`, of a file that `MetaStore.copyTo` made, in the order of their keys.
 *
 * @param bytes of the file; they are changed: in memory no database can have a journal beside it
 * @throws Damage, or SQLite's error, when the copy is not whole
 */
export function entriesOfCopy(bytes: Uint8Array, prefix: string): readonly StoredEntry[] {
  for (const at of JOURNAL_BYTES) bytes[at] = 1;
  const database = Database.deserialize(bytes, { strict: true, readonly: true });
  try {
    checkAll(database);
    const all = database.query<StoredEntry, []>("SELECT key, value, crc FROM meta ORDER BY key").all();
    return all.filter(({ key }) => key.startsWith(prefix));
  } finally {
    database.close();
  }
}
