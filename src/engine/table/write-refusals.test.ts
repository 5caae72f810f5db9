/** What a batch meets whose tables are of every kind: rows that their table cannot take are refused, all others are kept. */
import { describe, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { PartlyWritten } from "../../table/partly-written.ts";
import type { IngestThread } from "../threads/ingest-thread.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { WriteBatch, WriteOptions } from "../../table/write-batch.ts";

const METRICS: WriteOptions = { autoCreate: true, tableOptions: {}, physicalTable: "phy" };
const PLAIN: WriteOptions = { autoCreate: true, tableOptions: {} };

/** Tables of every kind that a name may be; "absent" is none. */
const SETUP = `
  CREATE TABLE wide (ts TIMESTAMP TIME INDEX, usage DOUBLE, idle DOUBLE, host STRING PRIMARY KEY);
  CREATE TABLE one (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY);
  CREATE TABLE samples (ts TIMESTAMP(9) TIME INDEX, greptime_value DOUBLE, host STRING PRIMARY KEY);
  CREATE TABLE kept (ts TIMESTAMP TIME INDEX, greptime_value DOUBLE, host STRING PRIMARY KEY) WITH (append_mode = 'true');
  CREATE TABLE whole (ts TIMESTAMP TIME INDEX, greptime_value BIGINT, host STRING PRIMARY KEY);
  CREATE TABLE numbered (ts TIMESTAMP TIME INDEX, greptime_value DOUBLE, host BIGINT PRIMARY KEY);
  CREATE TABLE swapped (ts TIMESTAMP TIME INDEX, greptime_value DOUBLE, host DOUBLE);
  CREATE TABLE p1 (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '');
  CREATE TABLE there (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table = 'p1');
  CREATE VIEW seen AS SELECT 1 AS a`;

/** Why a metric of that name is refused; undefined: it is taken. */
const METRIC_OUTCOMES = {
  absent: undefined,
  wide: "it is an ordinary table with the fields usage DOUBLE, idle DOUBLE",
  one: undefined,
  samples: undefined,
  kept: undefined,
  whole: "it is an ordinary table with the fields greptime_value BIGINT",
  numbered: "tag host is BIGINT",
  swapped: "it is an ordinary table with the fields greptime_value DOUBLE, host DOUBLE",
  p1: "it is a physical table of the metric engine",
  there: undefined,
  phy: "cannot write to table phy: ",
  seen: "View already exists",
  "": "the empty name",
  "a\nb": "control character",
} as const;

/** Writes as doors do: a batch that met tables of another kind than its thread knew of is tried again. */
async function put(machine: Machine, thread: number, batch: WriteBatch, options: WriteOptions): Promise<unknown> {
  const writer = thread === 0 ? machine.engine : (machine.writer(thread) as IngestThread);
  await writer.admit();
  try {
    return await writer.write("public", batch, options);
  } catch (error) {
    if (!(error instanceof DbError) || error.code !== StatusCode.RegionBusy) throw error;
    return await writer.write("public", batch, options);
  }
}

const sample = (metric: string, time: number, value = time): Sample => ({ metric, labels: { host: "a" }, time, value });

/** The same rows as writes that name their tables, one each. */
function named({ dictionary, tables }: WriteBatch): WriteBatch {
  const writes = tables.flatMap(({ tablesOfKeys: _, ...write }) =>
    Array.from({ length: write.rowCount }, (_row, row) => {
      const [field] = write.fields;
      if (field?.vector.kind !== "number") throw new Error("numbers");
      const vector = { ...field.vector, values: field.vector.values.slice(row, row + 1) };
      return {
        ...write,
        table: dictionary.shapeOf(write.keys[row] as number).table,
        rowCount: 1,
        keys: write.keys.slice(row, row + 1),
        times: { ...write.times, offsets: write.times.offsets.slice(row, row + 1) },
        fields: [{ ...field, vector }],
      };
    }),
  );
  return { dictionary, tables: writes };
}

async function tables(threads: number): Promise<Machine> {
  const machine = await Machine.start({ threads });
  await engineSql(machine.engine, SETUP);
  return machine;
}

async function rowsOf(machine: Machine, table: string): Promise<string> {
  return await engineSql(machine.engine, `SELECT count(*) FROM "${table}"`);
}

describe.each([0, 1])("a metric, on thread %i", (thread) => {
  test.each(Object.entries(METRIC_OUTCOMES))("whose name is that of %p: %p", async (metric, why) => {
    for (const before of [[], [sample("good", 1)]]) {
      const machine = await tables(thread);
      const dictionary = new SeriesDictionary();
      for (const round of [1, 2, 3]) {
        const batch = metricBatch([...before, sample(metric, round)], "phy", dictionary);
        const written = put(machine, thread, batch, METRICS);
        if (why === undefined) {
          expect(await written).toEqual({ rowCount: before.length + 1 });
          continue;
        }
        const failure = await failureOf(written);
        expect(failure.message).toContain(why);
        expect(failure.message).toContain(metric.replace("\n", " "));
        expect(failure.code === StatusCode.InvalidArguments || failure.code === StatusCode.Unsupported || metric === "seen").toBe(true);
        expect(failure instanceof PartlyWritten ? [failure.rowCount, failure.refusedRows] : undefined).toEqual(
          before.length === 0 ? undefined : [1, 1],
        );
      }
      await machine.crash();
      if (before.length > 0) expect(await rowsOf(machine, "good")).toBe("1");
      if (why === undefined) expect(await rowsOf(machine, metric)).toBe("3");
    }
  });

  test.each(["wide", "there", "seen", "", "p1"])("on the physical table %p", async (carrier) => {
    const machine = await tables(thread);
    const dictionary = new SeriesDictionary();
    const good = metricBatch([sample("good", 1)], "phy", dictionary);
    const odd = metricBatch([sample("odd", 1), sample("samples", 1)], carrier, dictionary);
    const written = put(machine, thread, { dictionary, tables: [...odd.tables, ...good.tables] }, METRICS);
    if (carrier === "p1") expect(await written).toEqual({ rowCount: 3 });
    else expect(await failureOf(written)).toMatchObject({ rowCount: 2, refusedRows: 1, message: expect.stringContaining(carrier) });
    for (const table of ["good", "samples"]) expect(await rowsOf(machine, table)).toBe("1");
  });

  test("that is the name of the other's physical table is refused, in whatever order they come", async () => {
    for (const isLast of [true, false]) {
      const machine = await tables(thread);
      const dictionary = new SeriesDictionary();
      const parts = [metricBatch([sample("x", 1)], "p7", dictionary), metricBatch([sample("p7", 1)], "p8", dictionary)];
      const ordered = isLast ? parts : parts.toReversed();
      const batch = { dictionary, tables: ordered.flatMap((part) => part.tables) };
      const failure = await failureOf(put(machine, thread, batch, METRICS));
      expect(failure.message).toContain("cannot write to table p7");
      expect(await rowsOf(machine, "x")).toBe("1");
      expect(await engineSql(machine.engine, "SHOW CREATE TABLE p7")).toContain("physical_metric_table");
    }
  });

  test("whose table was made by somebody else, of another kind, between two batches", async () => {
    const machine = await tables(thread);
    const dictionary = new SeriesDictionary();
    const send = (time: number): Promise<unknown> =>
      put(machine, thread, metricBatch([sample("m", time), sample("good", time)], "phy", dictionary), METRICS);
    const kinds = [
      "CREATE TABLE m (ts TIMESTAMP TIME INDEX, a DOUBLE, b DOUBLE)",
      "CREATE TABLE m (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '')",
      "CREATE TABLE m2 (ts TIMESTAMP TIME INDEX, a BIGINT); ALTER TABLE m2 RENAME m",
    ];
    let time = 1;
    for (const kind of kinds) {
      await send(time++);
      await engineSql(machine.engine, `DROP TABLE m; ${kind}`);
      const failure = await failureOf(send(time++));
      expect(failure).toMatchObject({ rowCount: 1, message: expect.stringContaining("cannot write to table m: ") });
      await engineSql(machine.engine, "DROP TABLE m");
    }
    await send(time++);
    expect([await rowsOf(machine, "m"), await rowsOf(machine, "good")]).toEqual(["1", String(time - 1)]);
  });
});

describe.each([0, 1])("a write that names its table, on thread %i", (thread) => {
  const OUTCOMES = {
    absent: undefined,
    wide: undefined,
    samples: undefined,
    kept: undefined,
    whole: "column greptime_value is BIGINT; got DOUBLE",
    numbered: "tag host is BIGINT",
    swapped: "column host is a field column; got a tag",
    p1: "it is a physical table of the metric engine",
    there: "a logical table has one field",
    seen: "View already exists",
    "": "the empty name",
  } as const;

  test.each(Object.entries(OUTCOMES))("of that of %p: %p", async (table, why) => {
    const machine = await tables(thread);
    const batch = named(metricBatch([sample("good", 1), sample(table, 1)]));
    const written = put(machine, thread, batch, PLAIN);
    if (why === undefined) expect(await written).toEqual({ rowCount: 2 });
    else expect(await failureOf(written)).toMatchObject({ rowCount: 1, refusedRows: 1, message: expect.stringContaining(why) });
    await machine.crash();
    expect(await rowsOf(machine, "good")).toBe("1");
  });

  test("is refused whole where all is to be written or nothing, and makes nothing", async () => {
    for (const table of ["whole", "numbered", "p1", "seen"]) {
      const machine = await tables(thread);
      const batch = named(metricBatch([sample("good", 1), sample(table, 1)]));
      const failure = await failureOf(put(machine, thread, batch, { ...PLAIN, allOrNothing: true }));
      expect(failure).not.toBeInstanceOf(PartlyWritten);
      if (table !== "numbered")
        expect((await failureOf(engineSql(machine.engine, "SELECT * FROM good"))).code).toBe(StatusCode.TableNotFound);
    }
  });
});

test("many tables that cannot be made are found among many that can, and all of those are made", async () => {
  const machine = await tables(0);
  await engineSql(machine.engine, Array.from({ length: 20 }, (_, i) => `CREATE VIEW seen${i} AS SELECT 1 AS a`).join("; "));
  const samples = Array.from({ length: 2000 }, (_, i) => sample(i % 100 === 0 ? `seen${i / 100}` : `m${i}`, 1));
  const failure = await failureOf(machine.engine.write("public", metricBatch(samples, "phy"), METRICS));
  expect(failure).toMatchObject({ rowCount: 1980, refusedRows: 20, message: expect.stringContaining("and 12 more tables") });
  expect(await rowsOf(machine, "phy")).toBe("1980");
});

test("rows of a metric that lies elsewhere expire as its own table says", async () => {
  const machine = await Machine.start();
  await engineSql(machine.engine, "CREATE TABLE samples (ts TIMESTAMP TIME INDEX, greptime_value DOUBLE, host STRING PRIMARY KEY)");
  await engineSql(
    machine.engine,
    "CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '', ttl = '1s')",
  );
  await machine.engine.write("public", metricBatch([sample("samples", 1), sample("gone", 1)], "phy"), METRICS);
  expect(await rowsOf(machine, "samples")).toBe("1");
});
