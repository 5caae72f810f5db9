import { tableId } from "../../base/units.ts";
import { describe, expect, test } from "bun:test";
import { jobOf, tableOf } from "../../../test/support/storage/table.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { FIELDS } from "../../../test/support/storage/arbitrary-rows.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { memoryFileStore } from "../../storage/file-store/memory-file-store.ts";
import { dataFileName } from "../../storage/sst/data-file.ts";
import { flushChunks } from "../../storage/sst/write/flush.ts";
import { FileCheck, type FileVerdict, judgeFile } from "./file-check.ts";

const NEXT_FILE = 1025;
const NEXT_TABLE = 100;
/** The table of `tableOf`, with all rows up to this sequence flushed. */
const TABLE = tableId(42);
const FLUSHED = 50;

const known = { flushed: new Map([[TABLE, FLUSHED]]), nextFileId: NEXT_FILE, nextTableId: NEXT_TABLE };

describe("the decision table", () => {
  /** Every kind of id beside every kind of table, of sequence and of entry. */
  test("in full", () => {
    for (const table of [TABLE, ...[43, NEXT_TABLE - 1, NEXT_TABLE, 999].map(tableId)]) {
      for (const file of [1, NEXT_FILE - 1, NEXT_FILE, NEXT_FILE + 5000, 10_000_000_000]) {
        for (const sequence of [undefined, 1, FLUSHED, FLUSHED + 1, 1000]) {
          for (const isMissing of [false, true]) {
            const name = dataFileName(table, file);
            const where = { name, sequence, isMissing };
            const named = judgeFile(name, sequence, isMissing, { ...known, names: new Set([name]) });
            expect({ ...where, named }).toEqual({ ...where, named: "keep" });
            const verdict = judgeFile(name, sequence, isMissing, { ...known, names: new Set<string>() });
            expect({ ...where, verdict }).toEqual({ ...where, verdict: wanted(table, file, sequence, isMissing) });
          }
        }
      }
    }
  });

  function wanted(table: number, file: number, sequence: number | undefined, isMissing: boolean): FileVerdict {
    if (file >= NEXT_FILE || table >= NEXT_TABLE) return "refuse";
    if (table !== TABLE) return "delete";
    if (sequence === undefined) return "leave";
    if (sequence > FLUSHED) return "doubt";
    return isMissing ? "leave" : "delete";
  }

  test("of a shard that has owners one after the other", () => {
    const owned = { ...known, names: new Set<string>(), isOwned: true, folder: "shard-0001/" };
    for (const table of [TABLE, ...[43, NEXT_TABLE - 1, NEXT_TABLE, 999].map(tableId)]) {
      for (const file of [1, NEXT_FILE - 1, NEXT_FILE, NEXT_FILE + 5000]) {
        for (const isMissing of [false, true]) {
          const name = dataFileName(table, file, owned.folder);
          const isLater = file >= NEXT_FILE || table >= NEXT_TABLE;
          const left: FileVerdict = table === TABLE && isMissing ? "leave" : "delete";
          expect([name, judgeFile(name, undefined, isMissing, owned)]).toEqual([name, isLater ? "keep" : left]);
          expect(judgeFile(dataFileName(table, file), undefined, isMissing, owned)).toBe("foreign");
        }
      }
    }
  });

  test("leaves what is no data file alone", () => {
    for (const name of [
      "tables/notes.txt",
      "tables/0000000042/0000000001.parquet.bak",
      "tables/42/1.parquet",
      "tables/0000000042/x/0000000001.parquet",
      "tables/0000000042/00000000001.parquet",
      "tables/0000000042/-000000001.parquet",
    ]) {
      const verdict = judgeFile(name, undefined, false, { ...known, names: new Set<string>() });
      expect({ name, verdict }).toEqual({ name, verdict: "foreign" });
    }
  });
});

interface Outcome {
  readonly left: readonly string[];
  readonly logged: readonly unknown[];
}

/** A file of one row of table 42, under a sequence. */
async function fileOf(sequence: number): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const job = jobOf(tableOf("millisecond", "last_row"), [{ rows: [{ series: 1, time: 1n, values: [1] }], columnIds: [FIELDS[0]!.id] }], 1);
  await flushChunks({ ...job, chunks: job.chunks.map((chunk) => ({ ...chunk, sequence })) }, memoryFileStore(files));
  return [...files.values()][0]!;
}

/** Checks files, by name and sequence, beside entries of `names`, with a log that has rows of table 42 under `logged`. */
async function check(found: Readonly<Record<string, number>>, names: readonly string[], logged: readonly number[] = []): Promise<Outcome> {
  const files = new Map<string, Uint8Array>();
  for (const [name, sequence] of Object.entries(found)) files.set(name, sequence === 0 ? new Uint8Array(3) : await fileOf(sequence));
  const lines: unknown[] = [];
  const note = (fields: object): void => void lines.push(fields);
  const logger: Logger = { ...silentLogger, error: note, warn: note };
  const before = [...files.keys()];
  const fileCheck = new FileCheck(memoryFileStore(files), { ...known, names: new Set(names) }, logger);
  try {
    await fileCheck.begin();
  } catch (error) {
    expect([...files.keys()]).toEqual(before); // A refusal deletes nothing.
    throw error;
  }
  for (const sequence of logged) fileCheck.sawRecord(TABLE, sequence);
  await fileCheck.end();
  return { left: [...files.keys()], logged: lines };
}

describe("a start", () => {
  const own = dataFileName(TABLE, 3);
  const other = dataFileName(TABLE, 4);
  const notes = "tables/notes.txt";

  test("deletes what merges, truncations and drops left, and keeps the rest", async () => {
    const found = { [own]: 40, [other]: FLUSHED, [dataFileName(tableId(99), 5)]: 0, [notes]: 0 };
    expect(await check(found, [own])).toEqual({ left: [own, notes], logged: [{ file: notes, files: 1 }] });
  });

  test("deletes what a flush left whose rows are in the log", async () => {
    expect(await check({ [own]: 40, [other]: 60 }, [own], [55, 60, 61])).toEqual({ left: [own], logged: [] });
  });

  test("leaves a file alone whose rows the log does not have", async () => {
    expect(await check({ [own]: 40, [other]: 60 }, [own], [55, 61])).toEqual({ left: [own, other], logged: [{ file: other, files: 1 }] });
  });

  test("leaves files alone while files of the same table are missing, and such as cannot be read", async () => {
    const missing = dataFileName(TABLE, 9);
    const { left, logged } = await check({ [own]: 40, [other]: 45 }, [own, missing]);
    expect({ left, logged }).toEqual({
      left: [own, other],
      logged: [{ file: other, files: 1 }],
    });
    expect(await check({ [other]: 0 }, [])).toEqual({ left: [other], logged: [{ file: other, files: 1 }] });
  });

  test("names twenty foreign files and counts the others", async () => {
    const { logged } = await check(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`tables/notes-${i}`, 0])), []);
    expect(logged).toHaveLength(20);
    expect(logged[0]).toEqual({ file: "tables/notes-0", files: 50 });
  });

  test("refuses files that are newer than the meta store, and deletes nothing", async () => {
    const newer = dataFileName(TABLE, NEXT_FILE);
    const error = await failureOf(check({ [own]: 40, [other]: 41, [newer]: 60, [dataFileName(TABLE, NEXT_FILE + 1)]: 61 }, [own]));
    expect(error.message).toContain(`the meta store is older than file ${newer} and 1 more files`);
    expect(error.message).toContain("ids of files below 1025 and of tables below 100 only");
  });
});
