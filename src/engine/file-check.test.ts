import { describe, expect, test } from "bun:test";
import { failureOf } from "../../test/support/failure-of.ts";
import { type Logger, silentLogger } from "../base/log.ts";
import { memoryFileStore } from "../storage/file-store/memory-file-store.ts";
import { dataFileName } from "../storage/sst/data-file.ts";
import { checkFiles, type FileVerdict, judgeFile } from "./file-check.ts";

const NEXT_FILE = 1025;
const TABLE = 7;

describe("the decision table", () => {
  /** Every kind of id beside every kind of table, with an entry and without. */
  test("in full", () => {
    const ids = [1, NEXT_FILE - 1, NEXT_FILE, NEXT_FILE + 5000, 10_000_000_000];
    for (const table of [TABLE, 8, 999]) {
      for (const id of ids) {
        const name = dataFileName(table, id);
        const known = { tableIds: new Set([TABLE]), nextFileId: NEXT_FILE };
        const unnamed: FileVerdict = id < NEXT_FILE ? "delete" : "refuse";
        expect({ name, verdict: judgeFile(name, { ...known, names: new Set<string>() }) }).toEqual({ name, verdict: unnamed });
        expect({ name, verdict: judgeFile(name, { ...known, names: new Set([name]) }) }).toEqual({ name, verdict: "keep" });
      }
    }
  });

  test("leaves what is no data file alone", () => {
    const known = { names: new Set<string>(), tableIds: new Set([TABLE]), nextFileId: NEXT_FILE };
    for (const name of [
      "tables/notes.txt",
      "tables/0000000007/0000000001.parquet.bak",
      "tables/7/1.parquet",
      "tables/0000000007/x/0000000001.parquet",
      "tables/0000000007/00000000001.parquet",
      "tables/0000000007/-000000001.parquet",
    ]) {
      expect({ name, verdict: judgeFile(name, known) }).toEqual({ name, verdict: "foreign" });
    }
  });
});

interface Outcome {
  readonly left: readonly string[];
  readonly logged: readonly unknown[];
}

/** Checks these files beside entries of `known`, all of table 7. */
async function check(found: readonly string[], known: readonly string[]): Promise<Outcome> {
  const files = new Map(found.map((name) => [name, new Uint8Array(1)]));
  const logged: unknown[] = [];
  const note = (fields: object): void => void logged.push(fields);
  const logger: Logger = { ...silentLogger, error: note, warn: note };
  const what = { names: new Set(known), tableIds: new Set([TABLE]), nextFileId: NEXT_FILE };
  const before = [...files.keys()];
  try {
    await checkFiles(memoryFileStore(files), what, logger);
  } catch (error) {
    expect([...files.keys()]).toEqual(before); // A refusal deletes nothing.
    throw error;
  }
  return { left: [...files.keys()], logged };
}

describe("a start", () => {
  const own = dataFileName(TABLE, 3);

  test("deletes what no entry names, and keeps the rest", async () => {
    const found = [own, dataFileName(TABLE, 4), dataFileName(99, 5), "tables/notes.txt"];
    expect(await check(found, [own])).toEqual({ left: [own, "tables/notes.txt"], logged: [{ file: "tables/notes.txt", files: 1 }] });
  });

  test("says which files are missing", async () => {
    expect(await check([], [own])).toEqual({ left: [], logged: [{ file: own, files: 1 }] });
  });

  test("says so of twenty files and counts the others", async () => {
    const known = Array.from({ length: 50 }, (_, i) => dataFileName(TABLE, i + 1));
    const { logged } = await check([], known);
    expect(logged).toHaveLength(20);
    expect(logged[0]).toEqual({ file: known[0]!, files: 50 });
  });

  test("refuses files that are newer than the meta store, and deletes nothing", async () => {
    const newer = dataFileName(TABLE, NEXT_FILE);
    const error = await failureOf(check([own, dataFileName(TABLE, 4), newer, dataFileName(TABLE, NEXT_FILE + 1)], [own]));
    expect(error.message).toContain(`the meta store is older than file ${newer} and 1 more files`);
    expect(error.message).toContain("file ids below 1025 only");
  });
});
