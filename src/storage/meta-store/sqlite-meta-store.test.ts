import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metaStoreContract } from "../../../test/contract/meta-store-contract.ts";
import { corruptionOf, DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type MetaStore, UNVERIFIED_KEY } from "./meta-store.ts";
import { openSqliteMetaStore } from "./sqlite-meta-store.ts";

const root = mkdtempSync(join(tmpdir(), "varve-meta-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

/** What a power loss leaves: the files as they are on disk, without the process that wrote them. */
function copyOf(path: string): string {
  const copy = join(root, `${++made}.db`);
  for (const suffix of ["", "-wal"]) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
  return copy;
}

metaStoreContract("openSqliteMetaStore", () => {
  const path = join(root, `${++made}.db`);
  const stores: MetaStore[] = [openSqliteMetaStore(path)];
  return {
    store: stores[0]!,
    reopen() {
      const store = openSqliteMetaStore(copyOf(path));
      stores.push(store);
      return store;
    },
    dispose() {
      for (const store of stores) store.close();
    },
  };
});

function check(work: () => unknown, text: string): void {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(DbError);
    expect([(error as DbError).code, (error as DbError).message]).toEqual([StatusCode.StorageUnavailable, expect.stringContaining(text)]);
    return;
  }
  throw new Error(`it should have failed with: ${text}`);
}

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("a meta store file", () => {
  test("of a newer version is refused by name, and left to others", () => {
    const path = join(root, "newer.db");
    const database = new Database(path, { create: true });
    database.run("PRAGMA user_version = 5");
    database.close();
    check(() => openSqliteMetaStore(path), `cannot open the meta store ${path}: it has format version 5; this server knows up to 4`);
    const again = new Database(path);
    again.run("PRAGMA locking_mode = EXCLUSIVE");
    again.run("BEGIN EXCLUSIVE"); // The refused store holds no lock.
    again.close();
  });

  test("of several shards has a version that servers of one refuse", () => {
    const path = join(root, "shards.db");
    const versionOf = (file: string): number | undefined =>
      new Database(file).query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version;
    const store = openSqliteMetaStore(path);
    store.commit([{ key: "a", value: 1 }]);
    expect(versionOf(path)).toBe(2);
    store.commit([{ key: "shards", value: 3 }]);
    expect(versionOf(path)).toBe(4);
    store.close();
    const again = openSqliteMetaStore(path);
    expect(again.get("shards")).toBe(3);
    again.close();
    const between = new Database(path);
    between.run("PRAGMA user_version = 3");
    between.close();
    const why = "which no release had: its metrics lie in one of several shards; make the data anew";
    check(() => openSqliteMetaStore(path), `cannot open the meta store ${path}: it has format version 3, ${why}`);
  });

  test("that is no database is refused", () => {
    const path = join(root, "text.db");
    writeFileSync(path, "this is not a database, however long it may be; ".repeat(100));
    check(() => openSqliteMetaStore(path), `cannot open the meta store ${path}`);
  });

  test("in a folder that does not exist is refused", () => {
    check(() => openSqliteMetaStore(join(root, "missing", "meta.db")), "cannot open the meta store");
  });

  test("syncs every commit in full and survives without a close", () => {
    const path = join(root, "sync.db");
    const store = openSqliteMetaStore(path);
    store.commit([{ key: "a", value: 1 }]);
    const copy = openSqliteMetaStore(copyOf(path));
    expect(copy.get("a")).toBe(1);
    copy.close();
    store.close();
    check(() => store.get("a"), "cannot read the meta store");
    check(() => store.commit([{ key: "a", value: 2 }]), "cannot write the meta store");
  });

  test("that a crash left empty is made complete", () => {
    const path = join(root, "half.db");
    writeFileSync(path, "");
    const store = openSqliteMetaStore(path);
    store.commit([{ key: "a", value: 1 }]);
    expect(store.get("a")).toBe(1);
    store.close();
    const version = new Database(path).query<{ user_version: number }, []>("PRAGMA user_version").get();
    expect(version?.user_version).toBe(2);
  });
});

/** A closed store with some entries. */
function someStore(): string {
  const path = join(root, `${++made}.db`);
  const store = openSqliteMetaStore(path);
  for (let i = 1; i <= 5; i++) store.commit([{ key: `file/${i}`, value: { name: `tables/${i}`, rowCount: i * 10, maxTime: String(i) } }]);
  store.commit([{ key: "flushed/1", value: 2 }]);
  store.close();
  return path;
}

function byHand(path: string, ...statements: readonly string[]): void {
  const database = new Database(path);
  for (const statement of statements) database.run(statement);
  database.close();
}

function entriesOf(store: MetaStore): string {
  return JSON.stringify(store.list(""));
}

describe("damage of a meta store", () => {
  test.each([
    ["a digit of a value that changed", "UPDATE meta SET value = '6' WHERE key = 'flushed/1'", "entry flushed/1 is not as it was written"],
    ["a key that changed", "UPDATE meta SET key = 'file/9' WHERE key = 'file/3'", "entry file/9 is not as it was written"],
    [
      "a value of another entry",
      "UPDATE meta SET (value, crc) = (SELECT value, crc FROM meta WHERE key = 'file/1') WHERE key = 'file/2'",
      "entry file/2 is",
    ],
    ["an entry that is gone", "DELETE FROM meta WHERE key = 'file/3'", "it has 5 entries with checksum"],
    ["a seal that is gone", "DELETE FROM seal", "it has no seal"],
    ["another table", "CREATE TABLE more (x)", "its tables are not those of a meta store"],
    ["a format version that is gone", "PRAGMA user_version = 0", "it has tables and no format version"],
  ])("refuses the start for %s, with the file and what to do", (_, statement, why) => {
    const path = someStore();
    byHand(path, statement);
    check(() => openSqliteMetaStore(path), `cannot open the meta store ${path}: ${why}`);
    check(() => openSqliteMetaStore(path), "put back a copy of meta.db");
    expect(corruptionOf(thrownBy(() => openSqliteMetaStore(path)))).toEqual({ file: path, offset: undefined, kind: "checksum" });
  });

  test("is found by whoever reads an entry while the server runs, by its key", () => {
    const path = someStore();
    const store = openSqliteMetaStore(path);
    byHand(path, "UPDATE meta SET value = '6' WHERE key = 'flushed/1'");
    check(() => store.get("flushed/1"), `cannot read the meta store ${path}: entry flushed/1 is not as it was written`);
    check(() => store.list("flushed/"), "entry flushed/1 is not as it was written");
    store.close();
  });

  test("is seen whatever bit of the file it flips: a start refuses it by the file's name, or shows every entry", () => {
    const path = someStore();
    const whole = readFileSync(path);
    const store = openSqliteMetaStore(path);
    const want = entriesOf(store);
    store.close();
    const outcomes = { refused: 0, whole: 0 };
    for (const bit of bitsToFlip(whole)) {
      const copy = join(root, `${++made}.db`);
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      writeFileSync(copy, bytes);
      const got = startOn(copy);
      if (got === undefined) outcomes.refused++;
      else if (got === want) outcomes.whole++;
      else throw new Error(`bit ${bit}: ${got}`);
      for (const suffix of ["", "-wal", "-shm"]) rmSync(copy + suffix, { force: true });
    }
    expect(outcomes.refused).toBeGreaterThan(0);
    expect(outcomes.whole).toBeGreaterThan(0);
  }, 600_000);
});

/** Every bit where `META_BITS=all` asks for it: minutes. Otherwise some of each page, other ones in each place of it. */
function bitsToFlip(whole: Uint8Array): number[] {
  const step = process.env["META_BITS"] === "all" ? 1 : 61;
  const used: number[] = [];
  // Pages are mostly empty: a place counts where bytes stand, and a few of the others.
  whole.forEach((byte, at) => {
    if (byte !== 0 || at % 97 === 0 || step === 1) for (let bit = 0; bit < 8; bit++) used.push(at * 8 + bit);
  });
  return used.filter((_, i) => i % step === 0);
}

/** What a start shows; undefined when it refuses. */
function startOn(path: string): string | undefined {
  let store: MetaStore | undefined;
  try {
    store = openSqliteMetaStore(path);
    return entriesOf(store);
  } catch (error) {
    if (!(error instanceof DbError) || !error.message.includes(path)) throw error;
    return undefined;
  } finally {
    store?.close();
  }
}

describe("the journal of a meta store", () => {
  test("is empty once it is secure, so that no damage of it takes a commit back", () => {
    const path = join(root, `${++made}.db`);
    const store = openSqliteMetaStore(path);
    store.commit([{ key: "a", value: 1 }]);
    store.commit([{ key: "a", value: 2 }]);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    store.secure();
    expect(statSync(`${path}-wal`).size).toBe(0);
    const copy = openSqliteMetaStore(copyOf(path));
    expect(copy.get("a")).toBe(2);
    copy.close();
    store.close();
  });

  test("waits for somebody else who reads, and is emptied later", () => {
    const path = join(root, `${++made}.db`);
    const store = openSqliteMetaStore(path);
    store.commit([{ key: "a", value: 1 }]);
    const reader = new Database(path);
    reader.run("BEGIN");
    reader.query("SELECT * FROM meta").all();
    store.commit([{ key: "a", value: 2 }]);
    store.secure();
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    reader.run("COMMIT");
    reader.close();
    store.secure();
    expect(statSync(`${path}-wal`).size).toBe(0);
    store.close();
  });
});

describe("a meta store that another process has open", () => {
  test("refuses a commit at once, with the reason, and takes the next", () => {
    const path = someStore();
    const store = openSqliteMetaStore(path);
    const other = new Database(path);
    other.run("BEGIN IMMEDIATE");
    check(() => store.commit([{ key: "a", value: 1 }]), "(SQLITE_BUSY): another process has it open, which has to let go of it");
    other.run("ROLLBACK");
    other.close();
    store.commit([{ key: "a", value: 1 }]);
    expect(store.get("a")).toBe(1);
    store.close();
  });
});

describe("a meta store whose file vanishes while it is open", () => {
  test.each([
    ["is deleted", (path: string) => rmSync(path), "it was deleted or moved away while the server runs"],
    [
      "is replaced",
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
      "another was put in its place while the server runs",
    ],
  ])("takes no commit when it %s", (_, harm, why) => {
    const path = someStore();
    const store = openSqliteMetaStore(path);
    store.commit([{ key: "a", value: 1 }]);
    harm(path);
    check(() => store.commit([{ key: "a", value: 2 }]), `cannot write the meta store ${path}: ${why}`);
    check(() => store.secure(), why);
    expect(store.get("a")).toBe(1);
    store.close();
  });

  test("takes commits again when it is back", () => {
    const path = someStore();
    const store = openSqliteMetaStore(path);
    renameSync(path, `${path}.away`);
    check(() => store.commit([{ key: "a", value: 2 }]), "deleted or moved away");
    renameSync(`${path}.away`, path);
    store.commit([{ key: "a", value: 2 }]);
    store.close();
  });
});

test("a store of version 1 is taken over with all its entries, and says that nobody has verified them", () => {
  const path = join(root, "version1.db");
  const old = new Database(path, { create: true });
  old.run("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  old.run("PRAGMA user_version = 1");
  old.run(`INSERT INTO meta VALUES ('flushed/1', '7'), ('table/1', '{"name":"é"}')`);
  old.close();
  for (let start = 0; start < 2; start++) {
    const store = openSqliteMetaStore(path);
    expect(store.list("")).toEqual([
      { key: "flushed/1", value: 7 },
      { key: "table/1", value: { name: "é" } },
      { key: UNVERIFIED_KEY, value: true },
    ]);
    store.close();
  }
});
