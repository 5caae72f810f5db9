/**
 * The meta store in one SQLite database with a write-ahead journal and full sync: a commit is on disk when it returns (about 1 ms).
 *
 *   commit ─► journal (durable) ─► `secure` ─► database file (durable), journal empty: from then on no damage of it takes anything
 *
 * The tables, and what is checked at each start, are in `sqlite-layout.ts`. SQLite drops what follows a damaged page of its journal without
 * a word, so whoever is about to delete the only other copy of something (a log segment, merged files) calls `secure` first.
 */
import { Database } from "bun:sqlite";
import { copyFile } from "node:fs/promises";
import { corrupted, DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type FileIdentity, identityOf, lostNow } from "../file-identity.ts";
import { type LocalMetaStore, type MetaChange, type MetaValue, SHARDS_KEY } from "./meta-store.ts";
import { checkAll, checkEntry, Damage, entryCrc, makeLayout, markShards, readSeal, resealed, type StoredEntry } from "./sqlite-layout.ts";

const RESTORE =
  "put back a copy of meta.db (without its -wal and -shm) that belongs to this data directory; without one, move the directory away and " +
  "read its data files, which are Parquet, into an empty one with COPY … FROM";

/** Opens or makes the database file. @throws DbError StorageUnavailable when it is damaged, of a newer version, or cannot be opened */
export function openSqliteMetaStore(path: string): LocalMetaStore {
  return guarded(path, "open", () => {
    const database = new Database(path, { create: true, strict: true });
    try {
      database.run("PRAGMA busy_timeout = 0"); // Nobody waits for another process with the thread stopped.
      database.run("PRAGMA journal_mode = WAL");
      database.run("PRAGMA synchronous = FULL");
      database.run("PRAGMA temp_store = MEMORY");
      makeLayout(database);
      checkAll(database);
    } catch (error) {
      database.close();
      throw error;
    }
    const store = new SqliteMetaStore(path, database);
    store.secure(); // What an earlier process left in the journal.
    return store;
  });
}

class SqliteMetaStore implements LocalMetaStore {
  private readonly path: string;
  private readonly database: Database;
  private readonly identity: FileIdentity;
  /** Whether the journal has what the database file may not have. */
  private isUnsecured = true;

  constructor(path: string, database: Database) {
    this.path = path;
    this.database = database;
    this.identity = identityOf(path);
  }

  get(key: string): MetaValue | undefined {
    return guarded(this.path, "read", () => {
      const row = this.database.query<StoredEntry, [string]>("SELECT key, value, crc FROM meta WHERE key = ?").get(key);
      return row === null ? undefined : valueOf(row);
    });
  }

  list(prefix: string): readonly { readonly key: string; readonly value: MetaValue }[] {
    return guarded(this.path, "read", () =>
      this.database
        .query<StoredEntry, [string, Uint8Array]>("SELECT key, value, crc FROM meta WHERE key >= ? AND key < CAST(? AS TEXT) ORDER BY key")
        .all(prefix, pastPrefix(prefix))
        .map((row) => ({ key: row.key, value: valueOf(row) })),
    );
  }

  commit(changes: readonly MetaChange[]): void {
    guarded(this.path, "write", () => {
      this.checkPlace();
      this.isUnsecured = true;
      this.database.transaction(() => this.apply(changes))();
    });
    failPoint("meta.after-commit");
  }

  settled(): Promise<void> {
    return Promise.resolve();
  }

  secure(): void {
    if (!this.isUnsecured) return;
    guarded(this.path, "write", () => {
      this.checkPlace(); // A commit into a file that is deleted is none.
      // Emptied as well: a journal that is cut short would show older pages than the database file has.
      const moved = this.database.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get();
      this.isUnsecured = moved?.busy !== 0; // Somebody else reads the database: the journal stays, and the next call tries again.
    });
  }

  /**
   * With an empty journal, a reader at rest keeps everybody from moving newer pages into the database file, so that it can be copied as it
   * is while commits go on. The thread stands still for what `secure` takes, as once a second: with 200,000 entries (43 MiB) 15 to 60 ms,
   * for two syncs; SQLite's own copy (`serialize`) took 200 to 430.
   */
  copyTo(path: string): Promise<void> {
    const reader = guarded(this.path, "read", () => {
      this.secure();
      if (this.isUnsecured) throw new Error("another process reads it, or another copy is made; try again");
      const opened = new Database(this.path, { readonly: true });
      opened.run("BEGIN");
      opened.query("SELECT entries FROM seal").get(); // Only now it reads, and nothing was committed since.
      return opened;
    });
    return this.copyFile(path, reader);
  }

  private async copyFile(path: string, reader: Database): Promise<void> {
    try {
      await copyFile(this.path, path);
    } catch (error) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot copy the meta store ${this.path}: ${errorText(error)}`, { cause: error });
    } finally {
      reader.close();
    }
  }

  close(): void {
    this.database.close();
  }

  private apply(changes: readonly MetaChange[]): void {
    const crcOf = this.database.query<{ crc: number }, [string]>("SELECT crc FROM meta WHERE key = ?");
    const put = this.database.query(
      "INSERT INTO meta (key, value, crc) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, crc = excluded.crc",
    );
    const remove = this.database.query("DELETE FROM meta WHERE key = ?");
    let seal = readSeal(this.database);
    for (const { key, value } of changes) {
      const old = crcOf.get(key)?.crc;
      const text = value === undefined ? undefined : JSON.stringify(value);
      const crc = text === undefined ? undefined : entryCrc(key, text);
      seal = resealed(seal, old, crc);
      if (text === undefined || crc === undefined) remove.run(key);
      else put.run(key, text, crc);
    }
    this.database.query("UPDATE seal SET entries = ?, sum = ? WHERE id = 0").run(seal.entries, seal.sum);
    if (changes.some(({ key }) => key === SHARDS_KEY)) markShards(this.database);
    failPoint("meta.in-commit");
  }

  /** @throws Error when the path does not lead to the open database any more: what is written there is gone at the next start */
  private checkPlace(): void {
    const lost = lostNow(this.identity);
    if (lost !== undefined) throw new Error(`${lost}; put it back, or stop the server and start it again`);
  }
}

/** @throws Damage */
function valueOf({ key, value, crc }: StoredEntry): MetaValue {
  checkEntry(key, value, crc);
  return JSON.parse(value) as MetaValue; // As it was written: its checksum matches.
}

/** The bytes of `prefix` and 0xFF, which UTF-8 never holds: above every key that begins with `prefix`, below all others that follow. */
function pastPrefix(prefix: string): Uint8Array {
  const bytes = new TextEncoder().encode(prefix);
  const past = new Uint8Array(bytes.length + 1);
  past.set(bytes);
  past[bytes.length] = 0xff;
  return past;
}

function guarded<T>(path: string, verb: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof DbError) throw error;
    const message = `cannot ${verb} the meta store ${path}: ${whyOf(error)}`;
    if (isDamage(error)) throw corrupted(message, { file: path, offset: undefined, kind: "checksum" }, error);
    throw new DbError(StatusCode.StorageUnavailable, message, { cause: error });
  }
}

/** Whether the file is not what was written, as we see it or as SQLite does. */
function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof Damage || code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB";
}

/** SQLite's name of an error; empty for one of another. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** What went wrong, SQLite's name of it, and what to do. */
function whyOf(error: unknown): string {
  const code = codeOf(error);
  const why = code.startsWith("SQLITE_") ? `${errorText(error)} (${code})` : errorText(error);
  if (isDamage(error)) return `${why}; ${RESTORE}`;
  if (code.startsWith("SQLITE_BUSY")) return `${why}: another process has it open, which has to let go of it`;
  if (code.startsWith("SQLITE_IOERR")) return `${why}: look at its disk`;
  return why;
}
