import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metaStoreContract } from "../../../test/contract/meta-store-contract.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { MetaStore } from "./meta-store.ts";
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

describe("a meta store file", () => {
  test("of a newer version is refused by name, and left to others", () => {
    const path = join(root, "newer.db");
    const database = new Database(path, { create: true });
    database.run("PRAGMA user_version = 2");
    database.close();
    check(() => openSqliteMetaStore(path), `cannot open the meta store ${path}: it has format version 2; this server knows up to 1`);
    const again = new Database(path);
    again.run("PRAGMA locking_mode = EXCLUSIVE");
    again.run("BEGIN EXCLUSIVE"); // The refused store holds no lock.
    again.close();
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
    expect(version?.user_version).toBe(1);
  });
});
