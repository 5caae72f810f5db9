/**
 * The meta store in one SQLite database, with a rollback-free write-ahead journal and full sync: a commit is on disk when it returns
 * (about 1 ms). The table is `meta(key TEXT PRIMARY KEY, value TEXT)`; `user_version` holds the format version.
 */
import { Database } from "bun:sqlite";
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { MetaChange, MetaStore, MetaValue } from "./meta-store.ts";

const VERSION = 1;

/** Opens or makes the database file. @throws DbError StorageUnavailable when it is damaged, of a newer version, or cannot be opened */
export function openSqliteMetaStore(path: string): MetaStore {
  return guarded(path, "open", () => {
    const database = new Database(path, { create: true, strict: true });
    try {
      prepare(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return new SqliteMetaStore(path, database);
  });
}

function prepare(database: Database): void {
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA temp_store = MEMORY");
  const row = database.query<{ user_version: number }, []>("PRAGMA user_version").get();
  const version = row?.user_version ?? 0;
  if (version > VERSION) throw new Error(`it has format version ${version}; this server knows up to ${VERSION}`);
  if (version === VERSION) return;
  // One transaction: a crash leaves an empty database or a complete one.
  database.transaction(() => {
    database.run("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
    database.run(`PRAGMA user_version = ${VERSION}`);
  })();
}

class SqliteMetaStore implements MetaStore {
  private readonly path: string;
  private readonly database: Database;

  constructor(path: string, database: Database) {
    this.path = path;
    this.database = database;
  }

  get(key: string): MetaValue | undefined {
    return guarded(this.path, "read", () => {
      const row = this.database.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?").get(key);
      return row === null ? undefined : (JSON.parse(row.value) as MetaValue);
    });
  }

  list(prefix: string): readonly { readonly key: string; readonly value: MetaValue }[] {
    return guarded(this.path, "read", () =>
      this.database
        .query<{ key: string; value: string }, [string, Uint8Array]>(
          "SELECT key, value FROM meta WHERE key >= ? AND key < CAST(? AS TEXT) ORDER BY key",
        )
        .all(prefix, pastPrefix(prefix))
        .map((row) => ({ key: row.key, value: JSON.parse(row.value) as MetaValue })),
    );
  }

  commit(changes: readonly MetaChange[]): void {
    guarded(this.path, "write", () => {
      const put = this.database.query("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
      const remove = this.database.query("DELETE FROM meta WHERE key = ?");
      this.database.transaction(() => {
        for (const change of changes) {
          if (change.value === undefined) remove.run(change.key);
          else put.run(change.key, JSON.stringify(change.value));
        }
        failPoint("meta.in-commit");
      })();
    });
    failPoint("meta.after-commit");
  }

  settled(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.database.close();
  }
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
    const why = errorText(error);
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${verb} the meta store ${path}: ${why}`, { cause: error });
  }
}
