/** That pages and files which hold nothing of interest are not read, by the statistics of scans; and answers over damaged indexes. */
import { describe, expect, test } from "bun:test";
import { FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../src/column/data-type.ts";
import { openParquet, type ParquetFile } from "../../src/format/parquet/reading/file.ts";
import type { ByteRange } from "../../src/format/parquet/types.ts";
import { COLUMN_INDEX_BLOB, decodeDirectory } from "../../src/storage/index/directory-codec.ts";
import { RowBatchBuilder } from "../../src/table/rows/row-batch-builder.ts";
import { EngineFixture } from "../support/engine-fixture.ts";
import type { MachineOptions } from "./machine.ts";
import { recordingLogger } from "../support/recording-logger.ts";

const ROWS = 65_536; // Four pages.
const CREATE = `CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX,
  code BIGINT %code, trace STRING %trace, msg STRING %msg, temp DOUBLE) WITH (append_mode = 'true')`;

/** Rows whose traces, codes and messages tell pages apart; `from` is the number of the first row. */
async function put(fixture: EngineFixture, from: number, count = ROWS): Promise<void> {
  const builder = new RowBatchBuilder("t", [
    { name: "host", type: STRING, semantic: "tag" },
    { name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp" },
    { name: "code", type: INT64, semantic: "field" },
    { name: "trace", type: STRING, semantic: "field" },
    { name: "msg", type: STRING, semantic: "field" },
    { name: "temp", type: FLOAT64, semantic: "field" },
  ]);
  for (let i = from; i < from + count; i++) {
    const code = i % 1000 === 40_000 % 1000 && Math.floor(i / 1000) === 40 ? 503 : i % 2 === 0 ? 200 : 900;
    const msg = i % ROWS === 20_000 ? `disk timeout, user_id=${i}` : `request ${i % 10} served in ${i % 100} ms`;
    // Scattered, so that bounds of pages say nothing.
    builder.add(["h", BigInt(i), code, `t${Math.imul(i, 0x9e3779b1) >>> 0}`, msg, i]);
  }
  await fixture.machine.engine.write("public", builder.batch(), { autoCreate: false, tableOptions: {} });
}

const traceOf = (row: number): string => `t${Math.imul(row, 0x9e3779b1) >>> 0}`;

async function tableWith(
  indexes: { code?: string; trace?: string; msg?: string },
  options: MachineOptions = {},
  rows = ROWS,
): Promise<EngineFixture> {
  const fixture = await EngineFixture.start(options);
  const { code = "", trace = "", msg = "" } = indexes;
  await fixture.sql(CREATE.replace("%code", code).replace("%trace", trace).replace("%msg", msg));
  await put(fixture, 0, rows);
  await fixture.sql("ADMIN flush_table('t')");
  return fixture;
}

function fileOf(bytes: Uint8Array): ParquetFile {
  const opened = openParquet("t", bytes.length, bytes);
  if (opened.kind !== "file") throw new Error("the whole file is enough");
  return opened.file;
}

/** Runs a query on one row of four pages and tells how many pages indexes left out. */
async function skipped(fixture: EngineFixture, where: string, rows: number): Promise<number> {
  const query = `SELECT temp FROM t WHERE ${where}`;
  const count = await fixture.figure(query, "pages_skipped_by_index");
  expect((await fixture.sql(query)).rows.length).toBe(rows);
  return count;
}

describe("a skipping index leaves out pages", () => {
  const table = tableWith({ trace: "SKIPPING INDEX WITH(granularity = 4096)", code: "SKIPPING INDEX" });

  test("without the value", async () => {
    const fixture = await table;
    expect(await skipped(fixture, `trace = '${traceOf(30_000)}'`, 1)).toBe(3);
    expect(await skipped(fixture, `trace IN ('${traceOf(5)}', '${traceOf(60_000)}')`, 2)).toBe(2);
    expect(await skipped(fixture, "trace = 't5none'", 0)).toBe(4);
    expect(await skipped(fixture, "code = 503", 1)).toBe(3);
    expect(await skipped(fixture, "code = 503 AND host = 'h'", 1)).toBe(3);
    expect(await skipped(fixture, `code = 503 OR trace = '${traceOf(1)}'`, 2)).toBe(2);
  });

  test("and none for what it cannot tell", async () => {
    const fixture = await table;
    expect(await skipped(fixture, `trace >= 't999'`, (await fixture.sql("SELECT temp FROM t WHERE trace >= 't999'")).rows.length)).toBe(0);
    expect(await skipped(fixture, `NOT (trace = '${traceOf(1)}')`, ROWS - 1)).toBe(0);
    expect(await skipped(fixture, `trace = '${traceOf(1)}' OR temp = 2`, 2)).toBe(0);
  });
});

test("an inverted index leaves out pages for values and ranges", async () => {
  const fixture = await tableWith({ code: "INVERTED INDEX" });
  expect(await skipped(fixture, "code = 503", 1)).toBe(3);
  expect(await skipped(fixture, "code BETWEEN 201 AND 899", 1)).toBe(3);
  expect(await skipped(fixture, "code > 899.5 AND code < 900", 0)).toBe(0);
  expect(await skipped(fixture, "code IN (201, 503)", 1)).toBe(3);
});

test("an inverted index on more values than a list holds is a filter of them", async () => {
  const fixture = await tableWith({ trace: "INVERTED INDEX" }, {}, ROWS + 1000);
  expect(await skipped(fixture, `trace = '${traceOf(30_000)}'`, 1)).toBe(4);
});

test("a full-text index leaves out pages without the words", async () => {
  const fixture = await tableWith({ msg: "FULLTEXT INDEX" });
  expect(await skipped(fixture, "matches_term(msg, 'timeout')", 1)).toBe(3);
  expect(await skipped(fixture, "msg @@ 'disk timeout'", 1)).toBe(3);
  expect(await skipped(fixture, "msg @@ '20000'", 1)).toBe(3);
  expect(await skipped(fixture, "matches_term(lower(msg), 'timeout')", 1)).toBe(3);
  expect(await skipped(fixture, "matches(msg, 'imeou')", 1)).toBe(3);
  expect(await skipped(fixture, "matches(msg, '+disk -served')", 1)).toBe(3);
  expect(await skipped(fixture, "matches(msg, 'timeout OR nowhere')", 1)).toBe(3);
  expect(await skipped(fixture, "msg LIKE '%disk%user%'", 1)).toBe(3);
  expect(await skipped(fixture, "contains(msg, 'user_id')", 1)).toBe(3);
  expect(await skipped(fixture, "msg = 'disk timeout, user_id=20000'", 1)).toBe(0); // Bounds of pages know that already.
  expect(await skipped(fixture, "matches(msg, '-disk')", ROWS - 1)).toBe(0);
});

test("without an index the same searches read every page", async () => {
  const fixture = await tableWith({});
  // First: later they are in the cache. Of `temp` only the page is read in which a row was found.
  expect(await fixture.figure("SELECT temp FROM t WHERE msg @@ 'timeout'", "pages_read")).toBe(5);
  expect(await skipped(fixture, "msg @@ 'timeout'", 1)).toBe(0);
});

test("statistics leave out pages of texts and times, and pages of NULL, without any index", async () => {
  const fixture = await EngineFixture.start();
  await fixture.sql("CREATE TABLE e (ts TIMESTAMP(3) TIME INDEX, name STRING, at TIMESTAMP(6), n BIGINT) WITH (append_mode = 'true')");
  for (const [i, values] of ["'apple', '2024-01-01 00:00:00', 1", "'pear', '2024-01-02 00:00:00', NULL", "NULL, NULL, 3"].entries()) {
    await fixture.sql(`INSERT INTO e VALUES (${i}, ${values})`);
    await fixture.sql("ADMIN flush_table('e')");
  }
  const left = (where: string): Promise<number> => fixture.figure(`SELECT ts FROM e WHERE ${where}`, "pages_skipped");
  expect(await left("name = 'apple'")).toBe(2);
  expect(await left("name > 'b'")).toBe(2);
  expect(await left("name IN ('a', 'pear')")).toBe(2);
  expect(await left("name @@ 'x'")).toBe(1);
  expect(await left("at >= '2024-01-02'")).toBe(2);
  expect(await left("at = '2024-01-01 00:00:00.000000001'")).toBe(3);
  expect(await left("n IS NOT NULL")).toBe(1);
  expect(await left("name = 'pear' OR n = 3")).toBe(1);
});

test("ALTER decides for new files; merged files have what the table asks for now", async () => {
  const fixture = await tableWith({});
  await fixture.sql("ALTER TABLE t MODIFY COLUMN code SET INVERTED INDEX");
  await put(fixture, ROWS);
  await fixture.sql("ADMIN flush_table('t')");
  expect(await skipped(fixture, "code = 503", 1)).toBe(4); // Those of the second file.
  await fixture.sql("ADMIN compact_table('t')");
  expect(await skipped(fixture, "code = 503", 1)).toBe(7);
  await fixture.sql("ALTER TABLE t MODIFY COLUMN code UNSET INVERTED INDEX");
  expect(await skipped(fixture, "code = 503", 1)).toBe(7);
  await put(fixture, 2 * ROWS, 10);
  await fixture.sql("ADMIN flush_table('t')");
  await fixture.sql("ADMIN compact_table('t')");
  expect(await skipped(fixture, "code = 503", 1)).toBe(0);
});

test("a column whose type changed is not looked up in the index of what it was", async () => {
  const fixture = await tableWith({ code: "INVERTED INDEX" });
  await fixture.sql("ALTER TABLE t MODIFY COLUMN code STRING");
  expect(await skipped(fixture, "code = '503'", 1)).toBe(0);
  await fixture.sql("ALTER TABLE t DROP COLUMN msg");
  expect((await fixture.sql("SELECT count(*) FROM t WHERE code = '503'")).rows).toEqual([[1]]);
});

describe("a damaged index", () => {
  /** Damages the only file, opens the engine again, and reads. */
  async function checkDamage(damage: (bytes: Uint8Array) => void): Promise<void> {
    const log = recordingLogger();
    const fixture = await tableWith({ trace: "SKIPPING INDEX", code: "INVERTED INDEX", msg: "FULLTEXT INDEX" }, { logger: log.logger });
    await fixture.machine.restart();
    const { files } = fixture.machine;
    for (const [name, bytes] of files) {
      const copy = bytes.slice();
      damage(copy);
      files.set(name, copy);
    }
    for (const where of ["code = 503", `trace = '${traceOf(7)}'`, "msg @@ 'timeout'", "code > 200 AND code < 900"]) {
      expect(await skipped(fixture, where, 1)).toBe(0);
    }
    const warnings = log.entries.filter(({ level }) => level === "warn");
    expect(warnings.map(({ message }) => message.replace(/:.*/, ""))).toEqual(["the column indexes of a data file are not used"]);
  }

  const directoryOf = (bytes: Uint8Array): ByteRange => fileOf(bytes).blob(COLUMN_INDEX_BLOB)!;

  test("in its directory", () =>
    checkDamage((bytes) => {
      bytes[directoryOf(bytes).offset + 3]! ^= 1;
    }));

  test("in what the directory names", () =>
    checkDamage((bytes) => {
      const { offset, length } = directoryOf(bytes);
      for (const { pieces } of decodeDirectory(bytes.subarray(offset, offset + length))) {
        for (const piece of pieces) bytes[piece.offset + (piece.length >> 1)]! ^= 0x10;
      }
    }));
});

describe("files without a wanted tag stay closed", () => {
  const FILES = 200;

  async function manyFiles(): Promise<EngineFixture> {
    const fixture = await EngineFixture.start();
    await fixture.sql("CREATE TABLE m (dc STRING, host STRING, ts TIMESTAMP(3) TIME INDEX, v BIGINT, PRIMARY KEY (dc, host))");
    for (let file = 0; file < FILES; file++) {
      const rows = Array.from({ length: 10 }, (_, i) => `('dc${file % 4}', 'host${file}-${i}', ${file * 10 + i}, ${i})`);
      if (file === 7) rows.push("(NULL, NULL, 1, 1)");
      await fixture.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
      await fixture.sql("ADMIN flush_table('m')");
    }
    await fixture.machine.restart();
    return fixture;
  }

  test("among 200 files", async () => {
    const fixture = await manyFiles();
    const check = async (where: string, rows: number, filesMax: number): Promise<void> => {
      const query = `SELECT v FROM m WHERE ${where}`;
      expect(await fixture.figure(query, "files_read")).toBeLessThanOrEqual(filesMax);
      expect((await fixture.sql(query)).rows.length).toBe(rows);
    };
    await check("host IS NULL", 1, 1);
    await check("host = 'host150-3'", 1, 4); // One, and a false positive now and then.
    await check("host = 'host150-3' AND dc = 'dc2'", 1, 4);
    await check("host = 'host150-3' AND dc = 'dc1'", 0, 4);
    await check("host IN ('host1-1', 'host2-2', 'none')", 2, 9);
    await check("dc = 'none'", 0, 9);
    const all = fixture.machine.files.size;
    await check("host LIKE 'host19-%'", 10, all);
    await check("host = 'host150-3'", 1, all); // Files that are open already need no filter.
  });

  test("unless a filter is damaged: then they are opened, and one line a file says why", async () => {
    const log = recordingLogger();
    const fixture = await EngineFixture.start({ logger: log.logger });
    await fixture.sql("CREATE TABLE d (dc STRING, host STRING, ts TIMESTAMP(3) TIME INDEX, v BIGINT, PRIMARY KEY (dc, host))");
    await fixture.sql("INSERT INTO d VALUES ('a', 'h1', 1, 1), ('a', 'h2', 1, 2)");
    await fixture.sql("ADMIN flush_table('d')");
    await fixture.machine.restart();
    for (const [name, bytes] of fixture.machine.files) {
      const copy = bytes.slice();
      for (const chunk of fileOf(copy).rowGroups[0]!.chunks)
        if (chunk.bloom !== undefined) copy.fill(0, chunk.bloom.offset + 20, chunk.bloom.offset + chunk.bloom.length);
      fixture.machine.files.set(name, copy);
    }
    for (let i = 0; i < 2; i++) expect((await fixture.sql("SELECT v FROM d WHERE host = 'h2' AND dc = 'a'")).rows).toEqual([[2]]);
    expect(log.entries.filter(({ level }) => level === "warn").length).toBe(1);
  });

  test("but not where the column is younger than the file and NULL is wanted", async () => {
    const fixture = await EngineFixture.start();
    await fixture.sql("CREATE TABLE y (ts TIMESTAMP(3) TIME INDEX, v BIGINT)");
    await fixture.sql("INSERT INTO y VALUES (1, 1)");
    await fixture.sql("ADMIN flush_table('y')");
    await fixture.sql("ALTER TABLE y ADD COLUMN host STRING PRIMARY KEY");
    await fixture.sql("INSERT INTO y VALUES (2, 2, 'a')");
    await fixture.sql("ADMIN flush_table('y')");
    await fixture.machine.restart();
    expect(await fixture.figure("SELECT v FROM y WHERE host IS NULL", "files_read")).toBe(1);
    expect((await fixture.sql("SELECT v FROM y WHERE host IS NULL")).rows).toEqual([[1]]);
    expect((await fixture.sql("SELECT v FROM y WHERE host = 'a'")).rows).toEqual([[2]]);
  });
});

test("count(*) over files that need no merge reads no page", async () => {
  const fixture = await tableWith({});
  await put(fixture, ROWS, 1000);
  await fixture.sql("ADMIN flush_table('t')");
  expect((await fixture.sql("SELECT count(*) FROM t")).rows).toEqual([[ROWS + 1000]]);
  expect(await fixture.figure("SELECT count(*) FROM t", "pages_read")).toBe(0);
});
