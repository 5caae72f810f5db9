/** Scans of logical and physical tables leave out what other tables' scans leave out: files, pages, rows that statistics stand for. */
import { describe, expect, test } from "bun:test";
import { newMetrics, read } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { inParts } from "../../../test/support/in-parts.ts";
import { FINE } from "../../../test/support/local-workers.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";
import type { Table } from "../../table/catalog.ts";
import { ALL_TIME, type ScanRequest } from "../../table/scan.ts";
import type { SeriesView } from "../../table/series-view.ts";

const OPTIONS = { autoCreate: true, tableOptions: {}, physicalTable: "p" };

function flushed(...files: readonly (readonly Sample[])[]): Promise<Machine> {
  return flushedWith({}, files);
}

async function flushedWith(options: MachineOptions, files: readonly (readonly Sample[])[]): Promise<Machine> {
  const machine = await Machine.start(options);
  for (const samples of files) {
    await machine.engine.write("public", metricBatch(samples, "p"), OPTIONS);
    await machine.engine.flushTable("public", "p");
  }
  await machine.restart(); // Nothing is open.
  return machine;
}

test("a label that a file does not have, or not with that value, rules it out", async () => {
  const make = (): Promise<Machine> =>
    flushed(
      [{ metric: "up", labels: { job: "a" }, time: 1, value: 1 }],
      [{ metric: "up", labels: { job: "b", zone: "" }, time: 1, value: 2 }],
      [{ metric: "cpu", labels: { host: "a" }, time: 1, value: 3 }],
    );
  const cases: readonly (readonly [
    table: string,
    column: string,
    values: readonly (string | undefined)[],
    rows: number,
    skipped: number,
  ])[] = [
    ["up", "job", ["a"], 1, 2],
    ["up", "job", ["a", "b"], 2, 1],
    ["up", "job", ["c"], 0, 3],
    ["up", "zone", [undefined], 1, 2],
    ["up", "zone", [""], 1, 2],
    ["p", "host", ["a"], 1, 2],
    ["p", "job", ["b"], 1, 2],
  ];
  for (const [table, column, values, rows, skipped] of cases) {
    const { engine } = await make();
    const metrics = newMetrics();
    const found = await read(engine, table, { projection: ["greptime_value"], tagPredicates: [{ kind: "in", column, values }] }, metrics);
    expect([table, column, values, found.length, metrics.filesSkippedByTags]).toEqual([table, column, values, rows, skipped]);
  }
});

test("rows of one metric come in parts, and no others", async () => {
  const samples = Array.from({ length: 4000 }, (_, i) => ({
    metric: i % 4 === 0 ? "up" : `cpu${i % 3}`,
    labels: { job: `j${i % 40}` },
    time: Math.floor(i / 40),
    value: i,
  }));
  const machine = await flushed(samples.slice(0, 2000), samples.slice(2000, 3000));
  await machine.engine.write("public", metricBatch(samples.slice(3000), "p"), OPTIONS);
  const table = machine.engine.table("public", "up")!;
  const ask = { projection: ["job", "greptime_value"], timeRange: ALL_TIME, fieldBounds: [], order: "none" } as const;
  const valuesOf = async (request: ScanRequest, from: Table): Promise<string[]> => {
    const found: string[] = [];
    for await (const { rowCount, vectors } of from.scan(request)) {
      const [tags, values] = vectors;
      if (tags?.kind !== "dictionary" || values?.kind !== "number") throw new Error("a tag and a number");
      for (let row = 0; row < rowCount; row++) found.push(`${tags.dictionary[tags.codes[row]!]} ${values.values[row]}`);
    }
    return found.sort();
  };
  for (const tagPredicates of [[], [{ kind: "in", column: "job", values: ["j8", "j12"] }] as const]) {
    const request = { ...ask, tagPredicates };
    const want = samples.filter(({ metric, labels }) => metric === "up" && (tagPredicates.length === 0 || /j(8|12)$/.test(labels.job)));
    const texts = want.map(({ labels, value }) => `${labels.job} ${value}`).sort();
    expect(await valuesOf(request, table)).toEqual(texts);
    const shared = await table.share?.(request, FINE);
    expect(shared?.parts.length).toBeGreaterThan(1);
    await shared?.release();
    expect(await valuesOf(request, inParts(table, machine.store))).toEqual(texts);
  }
  expect(await table.share?.({ ...ask, tagPredicates: [] }, { ...FINE, rowsMin: 1500 })).toBeUndefined(); // The region has 4000.
});

describe("a query of one metric", () => {
  const samples = Array.from({ length: 3000 }, (_, i) => ({
    metric: `m${i % 100}`,
    labels: { job: `j${i % 300}` },
    time: i,
    value: i,
  }));
  const sumOf = (metric: number): number => samples.reduce((sum, { value }) => (value % 100 === metric ? sum + value : sum), 0);

  test("opens files for its own series alone", async () => {
    // All rows of a flush in one file.
    const { engine } = await flushedWith({ shards: 1 }, [samples, [{ metric: "other", labels: { job: "j0" }, time: 1, value: 1 }]]);
    const seriesOf = (table: string): number => engine.table("public", table)!.series.count;
    expect(seriesOf("p")).toBe(0);
    const metrics = newMetrics();
    const rows = await read(engine, "m7", { projection: ["greptime_value"] }, metrics);
    expect(rows.length).toBe(30);
    expect([metrics.filesRead, metrics.filesSkippedByTags]).toEqual([1, 1]);
    expect([seriesOf("p"), seriesOf("m7")]).toEqual([3, 3]);
    expect(engine.table("public", "m7")!.statistics()).toMatchObject({ rowCount: 30, seriesCount: 3 });
    for (const metric of [8, 7, 99]) expect(await engineSql(engine, `SELECT sum(greptime_value) FROM m${metric}`)).toBe(`${sumOf(metric)}`);
    expect(seriesOf("p")).toBe(9);
    const id = engine.table("public", "m50")!.schema.id;
    expect(await engineSql(engine, `SELECT sum(greptime_value) FROM p WHERE __table_id = ${id}`)).toBe(`${sumOf(50)}`);
    expect(seriesOf("p")).toBe(12);
    expect(await engineSql(engine, "SELECT count(*) FROM p")).toBe("3001");
    expect(seriesOf("p")).toBe(301);
    expect(await engineSql(engine, "SELECT sum(greptime_value) FROM m8")).toBe(`${sumOf(8)}`);
  });

  test("opens them wholly where they delete", async () => {
    const machine = await flushed(samples);
    await engineSql(machine.engine, "DELETE FROM m7 WHERE greptime_timestamp >= 1000::TIMESTAMP(3)");
    await machine.engine.flushTable("public", "p");
    await machine.restart();
    const left = samples.filter(({ metric, time }) => metric === "m7" && time < 1000);
    expect(await engineSql(machine.engine, "SELECT count(*) FROM m7")).toBe(`${left.length}`);
    expect(await engineSql(machine.engine, "SELECT sum(greptime_value) FROM m8")).toBe(`${sumOf(8)}`);
  });

  test("shows the last values of its series, again and again", async () => {
    const { engine } = await flushed(samples);
    const query = (metric: number): string =>
      `SELECT job, last_value(greptime_value ORDER BY greptime_timestamp) FROM m${metric} GROUP BY job ORDER BY job`;
    for (let i = 0; i < 2; i++) {
      expect(await engineSql(engine, query(1))).toBe("j1|2701\nj101|2801\nj201|2901");
      expect(await engineSql(engine, query(2))).toBe("j102|2802\nj2|2702\nj202|2902");
    }
  });
});

test("series of tables that nobody asks for any more are let go, and come back the same", async () => {
  const metrics = 220;
  const samples = Array.from({ length: metrics * 3 }, (_, i) => ({
    metric: `m${i % metrics}`,
    labels: { job: `j${i % 7}`, zone: `z${i}`, a: "1", b: "2", c: "3" },
    time: i,
    value: i,
  }));
  // Numbers are compared, which begin anew with the region's series: not in the midst of it.
  const seriesRenewal = { seriesMin: Number.POSITIVE_INFINITY, restMillis: 0 };
  const { engine } = await flushedWith({ seriesRenewal }, [samples]);
  const tables = Array.from({ length: metrics }, (_, m) => engine.table("public", `m${m}`)!);
  const shown = async (): Promise<string[]> => {
    const answers: string[] = [];
    for (const { schema } of tables)
      answers.push(await engineSql(engine, `SELECT zone, job, greptime_value FROM ${schema.name} ORDER BY 1`));
    return answers;
  };
  const want = await shown();
  expect(want[5]).toBe("z225|j1|225\nz445|j4|445\nz5|j5|5");
  const zonesOf = (series: SeriesView): unknown => [0, 1, 2].map((number) => series.tagOf("zone", number));
  const before = tables.map(({ series }) => new WeakRef(series)); // Who holds them keeps them.
  const zones = tables.map(({ series }) => zonesOf(series));
  await new Promise((resolve) => setImmediate(resolve));
  Bun.gc(true);
  const again = tables.map(({ series }) => series);
  expect(again.filter((series, m) => series !== before[m]?.deref()).length).toBeGreaterThan(0); // The cache has a MiB.
  expect(again.map(zonesOf)).toEqual(zones);
  expect(await shown()).toEqual(want);
});

test("statistics stand for pages of one metric, those of its time as well", async () => {
  const samples = Array.from({ length: 60_000 }, (_, i) => ({
    metric: i % 2 === 0 ? "up" : "cpu",
    labels: { job: "a" },
    time: i,
    value: 1 + (i % 1000), // Bounds of floats are not exact where they are 0.
  }));
  const machine = await flushed(samples);
  const ask: ScanRequest = {
    projection: ["greptime_value"],
    timeRange: ALL_TIME,
    tagPredicates: [],
    fieldBounds: [],
    order: "none",
    summaries: {
      columns: [
        { column: "greptime_value", wantsBounds: true, wantsSum: true },
        { column: "greptime_timestamp", wantsBounds: true, wantsSum: false },
      ],
      buckets: undefined,
      isPerSeries: true,
    },
  };
  for (const [table, series] of [
    ["up", 1],
    ["cpu", 1],
    ["p", 2],
  ] as const) {
    const metrics = newMetrics();
    let rows = 0;
    for await (const batch of machine.engine.table("public", table)!.scan(ask, metrics)) rows += batch.rowCount;
    expect(rows).toBe(30_000 * series);
    expect(metrics.pagesSummarised).toBeGreaterThan(1);
  }
  const query = (table: string): string =>
    `SELECT count(*), sum(greptime_value), min(greptime_timestamp), max(greptime_timestamp) FROM ${table}`;
  expect(await engineSql(machine.engine, query("up"))).toBe("30000|15000000|0|59998");
  expect(await engineSql(machine.engine, query("cpu"))).toBe("30000|15030000|1|59999");
  expect(await engineSql(machine.engine, query("p"))).toBe("60000|30030000|0|59999");
  expect(await engineSql(machine.engine, "SELECT count(*) FROM up WHERE greptime_value > 997")).toBe("60");
});
