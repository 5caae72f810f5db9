/** Fault 16: data directories of older versions are opened, work, and stay right; formats of newer ones are refused by name. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "../../src/base/bytes/hash.ts";
import { strayFiles } from "../crash/points/home.ts";
import { put, read, refusal } from "../engine/lines.ts";
import { openIn } from "./make.ts";
import { rowsOf } from "./rows.ts";

const FROZEN = readdirSync(import.meta.dir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const NEWEST = FROZEN.at(-1) ?? "";
const BYTES_MAX = 100 * 1024;

let folder = "";
let copies = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-compat-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function copyOf(frozen: string): string {
  const copy = join(folder, `copy-${copies++}`);
  cpSync(join(import.meta.dir, frozen), copy, { recursive: true });
  return copy;
}

describe("a data directory of an older version", () => {
  test("is there, and small", () => {
    expect(FROZEN).toContain("0.1.0-log1");
    for (const frozen of FROZEN) {
      const files = readdirSync(join(import.meta.dir, frozen), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)).toBeLessThan(BYTES_MAX);
    }
  });

  test.each(FROZEN)("%s: holds what it held, goes on, and merges its files with new ones", async (frozen) => {
    const home = copyOf(frozen);
    const want = readFileSync(join(home, "rows.txt"), "utf8");
    const first = await openIn(home);
    expect(await rowsOf(first)).toBe(want);
    for (const { schema } of first.tables("public")) await first.flushTable("public", schema.name);
    expect(await rowsOf(first)).toBe(want);
    for (const { schema } of first.tables("public")) await first.compactTable("public", schema.name);
    expect(await rowsOf(first)).toBe(want);
    await put(first, "merged,host=later v=1i 100000\nfresh,host=a v=1i 1");
    await first.close();
    const second = await openIn(home);
    expect(await read(second, "fresh")).toEqual(["'a'|1|1"]);
    await second.dropTable("public", "fresh", false);
    expect(await rowsOf(second)).toBe(want.replace(/^(merged: .*\n(?: {2}.*\n)*)/m, "$1  'later'|1|100000\n"));
    await second.close();
    expect(strayFiles(home)).toEqual([]);
  });
});

describe("a newer format is refused by name", () => {
  test("of the meta store", async () => {
    const home = copyOf(NEWEST);
    const meta = new Database(join(home, "meta.db"));
    meta.run("PRAGMA user_version = 5");
    meta.close();
    expect((await refusal(openIn(home))).message).toMatch(/meta\.db: it has format version 5; this server knows up to 4$/);
  });

  test("of the log", async () => {
    const home = copyOf(NEWEST);
    const path = join(home, "wal", readdirSync(join(home, "wal"))[0] ?? "");
    const bytes = readFileSync(path);
    bytes.writeUInt32LE(4, 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12);
    writeFileSync(path, bytes);
    expect((await refusal(openIn(home))).message).toBe(
      `cannot read log segment ${path}: it has format version 4, which this server does not know`,
    );
    expect(readFileSync(path)).toEqual(bytes); // Nothing was cut off.
  });

  test("of a log record", async () => {
    const home = copyOf("0.1.0-record4");
    const wal = join(home, "wal");
    const path = join(wal, readdirSync(wal).find((name) => name.endsWith(".log")) ?? "");
    const bytes = readFileSync(path);
    const [header, payload] = [40, 72];
    bytes.writeUInt32LE(6, payload);
    bytes.writeUInt32LE(crc32(bytes.subarray(payload, payload + bytes.readUInt32LE(header + 8))), header + 12);
    bytes.writeUInt32LE(crc32(bytes.subarray(header, header + 28)), header + 28);
    writeFileSync(path, bytes);
    const sequence = bytes.readUInt32LE(header + 16);
    const why = `cannot replay log record ${sequence}: it has format version 6, which this server does not know`;
    expect((await refusal(openIn(home))).message).toBe(why);
    expect(readFileSync(path)).toEqual(bytes);
  });
});
