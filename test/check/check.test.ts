/** A check of a small directory with every kind of file: sound as it is, and every flipped bit is found or was named as unused. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checked, flipBits } from "./flips.ts";
import { makeStore } from "./store.ts";

const FLIPS = 60;
const SEED = 7;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-flips-"));
  for (const hasJournal of [true, false]) await makeStore(join(folder, String(hasJournal)), hasJournal);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("the directory has every kind of file", () => {
  const names = readdirSync(join(folder, "true"), { recursive: true }).map(String);
  for (const pattern of [
    /^meta\.db$/,
    /^meta\.db-wal$/,
    /\.parquet$/,
    /^wal\/\d+\.log$/,
    /^wal\/ends$/,
    /^wal\/threads$/,
    /^wal\/thread-1\/\d+\.log$/,
  ]) {
    expect([pattern, names.some((name) => pattern.test(name))]).toEqual([pattern, true]);
  }
});

describe.each([true, false])("with a journal: %p", (hasJournal) => {
  test(`${FLIPS} flips are found, or lie in bytes that nobody reads`, async () => {
    const { found, unused, missed } = await flipBits(join(folder, String(hasJournal)), FLIPS, SEED, false);
    expect(missed).toEqual([]);
    expect(found + unused).toBe(FLIPS);
    expect(found).toBeGreaterThan(FLIPS / 2);
  }, 60_000);
});

test("flips are found in data files whose entries have no checksum, as older servers wrote them", async () => {
  const home = join(folder, "older");
  cpSync(join(import.meta.dir, "../compat/0.1.0-meta2"), home, { recursive: true });
  rmSync(join(home, "rows.txt"));
  const { found, missed, byKind } = await flipBits(home, FLIPS, SEED, false);
  expect([missed, byKind["data file"]?.unused]).toEqual([[], 0]);
  expect(found).toBeGreaterThan(FLIPS / 2);
}, 60_000);

describe("files that are", () => {
  async function after(change: (home: string) => void): Promise<readonly string[]> {
    const home = join(folder, "changed");
    cpSync(join(folder, "true"), home, { recursive: true });
    change(home);
    const { findings } = await checked(home);
    rmSync(home, { recursive: true });
    return findings.map(({ file, what }) => `${file}: ${what}`);
  }
  const first = (home: string, below: string, end: string): string =>
    join(
      home,
      below,
      readdirSync(join(home, below), { recursive: true })
        .map(String)
        .filter((name) => name.endsWith(end))
        .sort()[0]!,
    );

  test("missing are named", async () => {
    expect(await after((home) => rmSync(first(home, "data", ".parquet")))).toEqual([expect.stringContaining("cannot be opened")]);
    expect(await after((home) => rmSync(first(home, "wal", "6.log")))).toContainEqual(expect.stringContaining("it is missing"));
    expect(await after((home) => rmSync(join(home, "wal/ends")))).toContainEqual("wal/ends: it is missing");
    expect(await after((home) => rmSync(join(home, "wal/thread-1"), { recursive: true }))).toContainEqual(
      expect.stringContaining("the log of thread 1 is named and not there"),
    );
    expect(await after((home) => rmSync(join(home, "wal"), { recursive: true }))).toEqual(["wal: the log directory is missing"]);
  });

  test("cut off are named", async () => {
    expect(await after((home) => writeFileSync(first(home, "data", ".parquet"), "PAR1"))).toContainEqual(
      expect.stringContaining("4 bytes"),
    );
  });

  test("newer than the meta store are named", async () => {
    const change = (home: string): void => cpSync(first(home, "data", ".parquet"), join(home, "data/tables/0000000001/0000999999.parquet"));
    expect(await after(change)).toEqual([expect.stringContaining("the meta store has given out ids of files below")]);
  });
});
