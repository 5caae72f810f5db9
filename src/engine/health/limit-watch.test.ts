import { expect, test } from "bun:test";
import { put, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { fixedClock, systemClock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import { LimitWatch, type WatchedLimits } from "./limit-watch.ts";
import { StoredSchemas } from "../../../test/engine/stored-schemas.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";

const HUGE: WatchedLimits = { databases: 1e9, tablesPerDatabase: 1e9, columnsPerTable: 1e9, seriesPerTable: 1e9 };
const HOUR = 3_600_000_000_000n;

async function make(limits: Partial<WatchedLimits>) {
  const machine = await Machine.start();
  for (let i = 0; i < 8; i++) await put(machine.engine, `cpu,host=h${i} a=1i,b=2i,c=3i ${i}`);
  const lines: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (fields) =>
      void lines.push(`${String(fields["limit"])} of ${String(fields["thing"])}: ${String(fields["used"])}/${String(fields["max"])}`),
  };
  const clock = fixedClock(0n);
  return { machine, lines, clock, watch: new LimitWatch(machine.engine, clock, logger, { ...HUGE, ...limits }) };
}

test.each([
  [{ databases: 3 }, "databases of the server: 3/3"],
  [{ tablesPerDatabase: 1 }, "tables_per_database of database public: 1/1"],
  [{ columnsPerTable: 6 }, "columns_per_table of table public.cpu: 5/6"],
  [{ seriesPerTable: 10 }, "series_per_table of table public.cpu: 8/10"],
] as const)("warns from 80 %% of %j on", async (limits, want) => {
  const { lines, watch } = await make(limits);
  watch.look();
  expect(lines).toEqual([want]);
});

test("says nothing below 80 %, and says it again after an hour, not before", async () => {
  const { lines, watch, clock, machine } = await make({ seriesPerTable: 11 });
  watch.look();
  expect(lines).toEqual([]);
  await put(machine.engine, "cpu,host=one a=1i 1");
  for (let i = 0; i < 10; i++) watch.look();
  expect(lines.length).toBe(1);
  clock.set(HOUR - 1_000_000n);
  watch.look();
  expect(lines.length).toBe(1);
  clock.set(HOUR);
  watch.look();
  expect(lines.length).toBe(2);
});

test("the fullest thing of each kind is a gauge", async () => {
  const { watch, machine } = await make({ seriesPerTable: 16, columnsPerTable: 10 });
  await put(machine.engine, "mem v=1i 1");
  const metrics = new MetricRegistry();
  watch.start(metrics, new Scheduler());
  const text = await metrics.registry.metrics();
  expect(text).toContain('varve_limit_usage_ratio{limit="series_per_table"} 0.5');
  expect(text).toContain('varve_limit_usage_ratio{limit="columns_per_table"} 0.5');
  watch.close();
});

test("a scrape looks at no table where there are many", async () => {
  let looked = 0;
  const series = { count: 3 };
  const table = {
    schema: { name: "t", columns: [1, 2] },
    get series() {
      looked++;
      return series;
    },
  };
  const tables = Array.from({ length: 5000 }, () => table) as never; // what a look reads of them
  const tableCounts = new Map([["public", 5000]]);
  const catalog = { databases: () => [{ name: "public", options: {} }], tables: () => tables, tableCounts };
  const watch = new LimitWatch(catalog, systemClock, silentLogger, HUGE);
  const metrics = new MetricRegistry();
  watch.start(metrics, new Scheduler());
  while (looked < 5000) await Bun.sleep(1);
  await Bun.sleep(5);
  for (let i = 0; i < 3; i++) expect(await metrics.registry.metrics()).toContain('varve_limit_usage_ratio{limit="series_per_table"} 3e-9');
  expect(looked).toBe(5000);
  watch.close();
});

test("databases beyond their limit are refused by name, limit and what to do", () => {
  const schemas = new StoredSchemas(memoryMetaStore(), { databases: 4, tablesPerDatabase: 10 });
  schemas.createDatabase("one", {});
  expect(() => schemas.createDatabase("two", {})).toThrow(
    "cannot create database two: there are 4, which is the limit; drop some, or use tables",
  );
  schemas.dropOneDatabase("one");
  schemas.createDatabase("two", {});
});

test("tables beyond their limit are refused, within one batch as well, and nothing of it is made", () => {
  const schemas = new StoredSchemas(memoryMetaStore(), { databases: 10, tablesPerDatabase: 3 });
  const definition = (name: string) => ({
    database: "public",
    name,
    columns: [{ name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const],
    primaryKey: [],
    engine: "mito",
    options: {},
  });
  const step = (name: string) => ({ kind: "create", definition: definition(name) }) as const;
  const why = "database public has 3 tables, which is the limit; drop some, or tell them apart by a tag";
  expect(() => schemas.applyAll(["a", "b", "c", "d"].map(step))).toThrow(`cannot create table d: ${why}`);
  schemas.applyAll(["a", "b", "c"].map(step));
  expect(() => schemas.createTable(definition("d"))).toThrow(why);
  expect(schemas.schemas("public").map(({ name }) => name)).toEqual(["a", "b", "c"]);
  schemas.dropOneTable("public", "b");
  schemas.createTable(definition("d"));
});

test("series beyond their limit are refused, known ones are not", () => {
  const registry = new SeriesRegistry("cpu", 2);
  registry.setColumns([{ id: 1, name: "host" }]);
  expect([registry.register(["a"]), registry.register(["b"])]).toEqual([0, 1]);
  expect(() => registry.register(["c"])).toThrow(
    "cannot add a series to table cpu: it has 2 already, which is the limit; use fewer distinct tag values",
  );
  expect(registry.register(["a"])).toBe(0);
});

test("a name that is too long is refused by the write that brings it, and only by that", async () => {
  const { machine } = await make({});
  const long = "x".repeat(1025);
  expect(() => put(machine.engine, `cpu,host=a ${long}=1i 1`)).toThrow("a name is longer than 1024 bytes");
  expect((await refusal(machine.engine.createDatabase(long, {}, false))).message).toContain("Invalid database name");
  await put(machine.engine, "cpu,host=a a=1i 1");
});
