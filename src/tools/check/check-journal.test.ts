/** Journals as SQLite writes them, whole, begun anew, cut short and with bits that flipped. */
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../../bench/macro/random.ts";
import { checkJournal } from "./check-journal.ts";
import type { Finding, UnusedBytes } from "./finding.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A copy of the journal that a database has after `work`. */
async function journalAfter(work: (database: Database) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "varve-journal-"));
  folders.push(folder);
  const database = new Database(join(folder, "a.db"), { create: true });
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA wal_autocheckpoint = 0");
  database.run("CREATE TABLE t (x)");
  work(database);
  copyFileSync(join(folder, "a.db-wal"), join(folder, "copy"));
  database.close();
  return join(folder, "copy");
}

async function checked(path: string): Promise<{
  readonly pages: ReadonlyMap<number, number>;
  readonly findings: readonly Finding[];
  readonly unused: readonly UnusedBytes[];
}> {
  const findings: Finding[] = [];
  const unused: UnusedBytes[] = [];
  const pages = await checkJournal(path, "j", {
    finding: (found) => void findings.push(found),
    unused: (range) => void unused.push(range),
    note: () => undefined,
    read: () => undefined,
  });
  return { pages, findings, unused };
}

function insert(database: Database, rows: number): void {
  for (let i = 0; i < rows; i++) database.run("INSERT INTO t VALUES (randomblob(3000))");
}

test("a whole one is sound, and says where the newest pages are", async () => {
  const path = await journalAfter((database) => insert(database, 5));
  const { pages, findings, unused } = await checked(path);
  expect([findings, unused]).toEqual([[], []]);
  const bytes = readFileSync(path);
  for (const [page, at] of pages) expect(bytes.readUInt32BE(at - 24)).toBe(page);
});

test("one that began anew over a longer one says that the rest is nobody's", async () => {
  const path = await journalAfter((database) => {
    insert(database, 8);
    for (let i = 0; i < 2; i++) {
      database.query("PRAGMA wal_checkpoint(RESTART)").get();
      insert(database, 2);
    }
  });
  const { findings, unused } = await checked(path);
  expect(findings).toEqual([]);
  expect(unused).toEqual([{ file: "j", from: expect.any(Number), to: readFileSync(path).length, why: expect.stringContaining("earlier") }]);
  const whole = readFileSync(path);
  const random = seededRandom(5);
  for (let i = 0; i < 200; i++) {
    const at = random.below(whole.length);
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1 << random.below(8);
    writeFileSync(path, bytes);
    const isFound = (await checked(path)).findings.length > 0;
    // Behind the end, a first salt that flipped is told as well: nobody can say that it was one of an earlier journal.
    if (!isFound) expect(at).toBeGreaterThanOrEqual(unused[0]!.from);
  }
});

test("one that is cut short, at a frame or within, is named", async () => {
  const path = await journalAfter((database) => {
    insert(database, 1);
    database.transaction(() => insert(database, 4))(); // Several frames of one commit.
  });
  const { length } = readFileSync(path);
  truncateSync(path, length - 10);
  expect((await checked(path)).findings).toMatchObject([{ what: `${4096 + 24 - 10} bytes at its end are no whole frame` }]);
  truncateSync(path, length - 4096 - 24);
  expect((await checked(path)).findings).toMatchObject([{ what: "its last frames belong to no commit" }]);
});
