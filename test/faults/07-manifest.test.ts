/**
 * Fault 7: a meta store that is half written, older than the files and the log, or lost. SQLite finds a half-written one by its own
 * journal. An older one is told by ids that it has not given out; within those, no file is deleted whose rows the log does not have.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { seededRandom } from "../../bench/macro/random.ts";
import { DbError } from "../../src/base/error.ts";
import { watchFailPoints } from "../../src/base/process/fail-point.ts";
import { UNVERIFIED_KEY } from "../../src/storage/meta-store/meta-store.ts";
import { openSqliteMetaStore } from "../../src/storage/meta-store/sqlite-meta-store.ts";
import { copyHome, openHome } from "../crash/points/home.ts";
import { put, read, refusal } from "../engine/lines.ts";
import { ONE_REGION } from "../engine/regions.ts";

let folder = "";
let copies = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-manifest-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A page of SQLite's journal with its header; a commit is a few of them. */
const JOURNAL_FRAME_BYTES = 24 + 4096;
/** Flipped bits that are tried; `META_BITS` says another number. */
const BITS = Number(process.env["META_BITS"] ?? 60) || 3000;
const META_FILES = ["meta.db", "meta.db-wal", "meta.db-shm"];

/** What a killed server left, and its meta store at two earlier moments. With `isTrimmed` the log has lost what is in files. */
async function remains(isTrimmed = false): Promise<{ readonly path: string; readonly beforeTable: string; readonly beforeFlush: string }> {
  const path = join(folder, `home-${copies++}`);
  const home = await openHome(path);
  await put(home.engine, "first,host=a v=1i 1");
  const beforeTable = keepMeta(path);
  if (isTrimmed) await home.engine.flushTable("public", "first"); // Or the log would be kept for its sake.
  await put(home.engine, "cpu,host=a v=1i 1", ONE_REGION);
  await put(home.engine, "cpu,host=b v=2i 2");
  const beforeFlush = keepMeta(path);
  await home.engine.flushTable("public", "cpu");
  await put(home.engine, "cpu,host=c v=3i 3");
  const left = join(folder, `left-${copies++}`);
  copyHome(path, left);
  await home.engine.close();
  return { path: left, beforeTable, beforeFlush };
}

function keepMeta(path: string): string {
  const kept = join(folder, `meta-${copies++}`);
  cpSync(path, kept, { recursive: true, filter: (from) => from === path || META_FILES.some((name) => from.endsWith(`/${name}`)) });
  return kept;
}

function putMeta(from: string | undefined, path: string): void {
  for (const name of META_FILES) {
    rmSync(join(path, name), { force: true });
    if (from !== undefined && existsSync(join(from, name))) copyFileSync(join(from, name), join(path, name));
  }
}

function dataFiles(path: string): string[] {
  if (!existsSync(join(path, "data"))) return [];
  return readdirSync(join(path, "data"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".parquet"));
}
const segments = (path: string): string[] => readdirSync(join(path, "wal"));

/** The start is refused with this text, and leaves files and log as they are. */
async function checkRefused(path: string, text: string | RegExp): Promise<void> {
  const before = [dataFiles(path), segments(path)];
  expect((await refusal(openHome(path))).message).toMatch(text);
  expect([dataFiles(path), segments(path)]).toEqual(before);
}

describe("a meta store from before the files", () => {
  test("is refused: the files that it does not know are no garbage", async () => {
    const { path, beforeFlush } = await remains();
    const files = dataFiles(path);
    expect(files).toEqual([expect.stringMatching(/^tables\/\d{10}\/0000000001\.parquet$/)]);
    putMeta(beforeFlush, path);
    await checkRefused(path, new RegExp(`^cannot open the data: the meta store is older than file ${files[0]}: `));
  });

  test("is refused when it is gone altogether", async () => {
    const { path } = await remains();
    putMeta(undefined, path);
    await checkRefused(path, "the meta store is older than file");
  });

  test("is refused for the log alone, when it does not know a table of it", async () => {
    const { path, beforeTable } = await remains();
    putMeta(beforeTable, path);
    rmSync(join(path, "data"), { recursive: true });
    await checkRefused(
      path,
      /^cannot replay record 2 of log segment \d+: it is of table 1025, and the meta store has given out ids below 1025 only/,
    );
  });

  test("that is put back is taken", async () => {
    const { path, beforeFlush } = await remains();
    const newest = keepMeta(path);
    putMeta(beforeFlush, path);
    await checkRefused(path, "the meta store is older");
    putMeta(newest, path);
    const { engine } = await openHome(path);
    expect(await read(engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2", "'c'|3|3"]);
    await engine.close();
  });
});

describe("a meta store from before the last flush, whose ids were given out before", () => {
  test("has the file of that flush left alone, and the start goes on with what it knows", async () => {
    const { path, beforeFlush } = await remains(true);
    const files = dataFiles(path);
    expect(files).toHaveLength(2);
    const copy = join(folder, `old-${copies++}`);
    copyHome(path, copy);
    putMeta(beforeFlush, copy);
    const old = await openHome(copy);
    expect(await read(old.engine, "cpu")).toEqual(["'c'|3|3"]);
    await old.engine.close();
    expect(dataFiles(copy)).toEqual(expect.arrayContaining(files));
    const { engine } = await openHome(path);
    expect(await read(engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2", "'c'|3|3"]);
    await engine.close();
  });
});

describe("a meta store that is half written", () => {
  test("has all rows once the log was trimmed, and all or a refusal before, wherever the journal was cut", async () => {
    const { path } = await remains(true);
    expect(statSync(join(path, "meta.db-wal")).size).toBe(0); // The database file has all that the log has lost.
    const untrimmed = await cutInFlush();
    const { size } = statSync(join(untrimmed, "meta.db-wal"));
    const outcomes = new Map<string, number>();
    for (let length = size; length >= 0; length -= JOURNAL_FRAME_BYTES >> 1) {
      const copy = join(folder, `cut-${copies++}`);
      copyHome(untrimmed, copy);
      rmSync(join(copy, "meta.db-shm"), { force: true });
      truncateSync(join(copy, "meta.db-wal"), length);
      const outcome = await startOn(copy);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect([...outcomes.keys()].sort()).toEqual(["all rows", "refused"]);
  });

  test("is refused when its pages are damaged", async () => {
    const { path } = await remains();
    const closed = await openHome(path);
    await closed.engine.close(); // All commits are in the database file.
    const whole = readFileSync(join(path, "meta.db"));
    for (const at of [0, 18, 100]) {
      const bytes = Buffer.from(whole);
      bytes.fill(0xa5, at, at + 40);
      writeFileSync(join(path, "meta.db"), bytes);
      expect((await refusal(openHome(path))).message).toMatch(/^cannot (?:open|read) the meta store /);
    }
    for (const length of [1, 50, whole.length - 1000]) {
      writeFileSync(join(path, "meta.db"), whole.subarray(0, length));
      expect((await refusal(openHome(path))).message).toContain("meta");
    }
  });
});

describe("a bit of the meta store that flipped", () => {
  /** Puts another digit where the meta store has a text, as a flipped bit does. */
  async function startWith(find: RegExp, bit: number): Promise<string> {
    const { path } = await remains(true);
    const bytes = readFileSync(join(path, "meta.db"));
    const places = [...bytes.toString("latin1").matchAll(find)].map((match) => match.index + match[0].length - 1);
    expect(places.length).toBeGreaterThan(0);
    for (const at of places) bytes[at] = (bytes[at] as number) ^ bit;
    writeFileSync(join(path, "meta.db"), bytes);
    return (await refusal(openHome(path))).message;
  }

  test.each([
    ["of the flushed sequence, above rows that only the log has", /flushed\/00000010252?\d/g, 4, "entry flushed/0000001025"],
    ["of the newest time of a file", /"maxTime":"\d/g, 2, "entry file/"],
    ["of the oldest time of a file", /"minTime":"\d/g, 8, "entry file/"],
    ["of the rows of a file", /"rowCount":\d/g, 1, "entry file/"],
    ["of a column's id", /"nextColumnId":\d/g, 1, "entry table/"],
  ])("%s stops the start, with file and key", async (_, find, bit, key) => {
    const message = await startWith(find, bit);
    expect(message).toMatch(/^cannot open the meta store .*meta\.db: /);
    expect(message).toContain(key);
    expect(message).toContain("put back a copy of meta.db");
  });

  test("stops the start or shows all rows, wherever it is", async () => {
    const { path } = await remains(true);
    const whole = readFileSync(join(path, "meta.db"));
    const random = seededRandom(7);
    const outcomes = new Set<string>();
    for (let round = 0; round < BITS; round++) {
      const copy = join(folder, `bit-${copies++}`);
      copyHome(path, copy);
      let at = random.below(whole.length);
      while (round % 4 > 0 && whole[at] === 0) at = (at + 1) % whole.length; // Most of a page is empty.
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
      writeFileSync(join(copy, "meta.db"), bytes);
      outcomes.add(await startOn(copy));
      rmSync(copy, { recursive: true });
    }
    expect([...outcomes].sort()).toEqual(["all rows", "refused"]);
  });
});

describe("entries of a meta store without checksums", () => {
  /** What a version before checksums left, with one text of its entries changed. */
  async function olderStore(change: (value: string) => string): Promise<string> {
    const { path } = await remains();
    const closed = await openHome(path);
    await closed.engine.close();
    const database = new Database(join(path, "meta.db"));
    const entries = database.query<{ key: string; value: string }, []>("SELECT key, value FROM meta").all();
    database.run("DROP TABLE meta");
    database.run("DROP TABLE seal");
    database.run("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
    for (const { key, value } of entries) {
      database.query("INSERT INTO meta VALUES (?, ?)").run(key, key.startsWith("file/") ? change(value) : value);
    }
    database.run("PRAGMA user_version = 1");
    database.close();
    return path;
  }

  test("are held against the files' footers by the first start that has them, and then verified", async () => {
    const path = await olderStore((value) => value);
    for (let start = 0; start < 2; start++) {
      const { engine } = await openHome(path);
      expect(await read(engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2", "'c'|3|3"]);
      await engine.close();
      const meta = openSqliteMetaStore(join(path, "meta.db"));
      expect(meta.get(UNVERIFIED_KEY)).toBeUndefined();
      meta.close();
    }
  });

  test.each([
    [/"maxTime":"2"/, '"maxTime":"1"', "its entry in the meta store says times from 1 to 1, the file has 1 to 2"],
    [/"rowCount":2/, '"rowCount":3', "its entry in the meta store says 3 rows, the file has 2"],
    [/"sequence":3/, '"sequence":2', "its entry in the meta store says sequence 2, the file has 3"],
  ])("stop the start by file and table when they differ: %p", async (find, put, why) => {
    const path = await olderStore((value) => value.replace(find, put));
    for (let start = 0; start < 2; start++) {
      const { message } = await refusal(openHome(path));
      const [what = "", then] = message.split("; ");
      expect(dataFiles(path).map((file) => `cannot open the data: of file ${file} of table public.cpu, ${why}`)).toContain(what);
      expect(then).toStartWith("put back the one that is not right");
    }
  });
});

/** What is left of a kill right after the commit of a flush, when the journal alone has it. */
async function cutInFlush(): Promise<string> {
  const path = join(folder, `home-${copies++}`);
  const left = join(folder, `left-${copies++}`);
  const home = await openHome(path);
  await put(home.engine, "cpu,host=a v=1i 1");
  await put(home.engine, "cpu,host=b v=2i 2");
  await put(home.engine, "cpu,host=c v=3i 3");
  watchFailPoints((name) => {
    if (name === "flush.after-settled") copyHome(path, left);
  });
  await home.engine.flushTable("public", "cpu");
  watchFailPoints(null);
  await home.engine.close();
  return left;
}

/** Starts, and says what came of it. @throws Error for rows that are gone together with their file */
async function startOn(path: string): Promise<"all rows" | "files left alone" | "refused"> {
  const before = dataFiles(path);
  try {
    const { engine } = await openHome(path);
    const rows = engine.table("public", "cpu") === undefined ? [] : await read(engine, "cpu");
    await engine.close();
    if (Bun.deepEquals(rows, ["'a'|1|1", "'b'|2|2", "'c'|3|3"])) return "all rows";
    const after = new Set(dataFiles(path));
    if (before.length > 0 && before.every((name) => after.has(name))) return "files left alone";
    throw new Error(`wrong rows: ${rows.join(" ")}`);
  } catch (error) {
    if (error instanceof DbError) return "refused";
    throw error;
  }
}
