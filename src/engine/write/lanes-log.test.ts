/** Batches whose rows go elsewhere: what the lanes took is what an engine that has the rows reads back. */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { startWithWals } from "../../../test/engine/elsewhere.ts";
import { AUTO, put, read, refusal } from "../../../test/engine/lines.ts";
import { metricBatch } from "../../../test/support/metric-batch.ts";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { ServerMemory } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";

/** Lines of a table, a host each. */
function linesOf(table: string, hosts: number, time = 1): string {
  return Array.from({ length: hosts }, (_, i) => `${table},host=h${i} v=${i}i ${time}`).join("\n");
}

/** Rows that `linesOf` makes, as `read` gives them. */
function rowsOf(hosts: number, ...times: readonly number[]): string[] {
  return Array.from({ length: hosts }, (_, i) => times.map((time) => `'h${i}'|${i}|${time}`))
    .flat()
    .toSorted();
}

for (const shards of [1, 4]) {
  test(`rows of a batch go to the lanes of their shards, one record each, in ${shards} shards`, async () => {
    const { machine, elsewhere, rows } = await startWithWals(shards);
    const { engine } = machine;
    expect(await put(engine, `${linesOf("cpu", 40)}\n${linesOf("mem", 3)}`)).toEqual({ rowCount: 43 });
    await put(engine, linesOf("cpu", 40, 2));
    for (const { records } of elsewhere.lanes) {
      expect(records.length).toBeLessThanOrEqual(2);
      for (const tables of records) expect(new Set(tables).size).toBe(tables.length);
    }
    expect(elsewhere.lanes.filter(({ records }) => records.length === 2).length).toBe(shards);
    await rows(elsewhere.lanes.map(({ wal }) => wal));
    expect((await read(machine.engine, "cpu")).toSorted()).toEqual(rowsOf(40, 1, 2));
    expect((await read(machine.engine, "mem")).toSorted()).toEqual(rowsOf(3, 1));
  });
}

test("metrics go to the lanes of their series", async () => {
  const { machine, elsewhere, rows } = await startWithWals(4);
  const samples = Array.from({ length: 60 }, (_, i) => ({ metric: `m${i % 3}`, labels: { pod: `p${i % 20}` }, time: i, value: i }));
  const options = { ...AUTO, physicalTable: "greptime_physical_table" };
  expect(await machine.engine.write("public", metricBatch(samples), options)).toEqual({ rowCount: 60 });
  expect(elsewhere.lanes.every(({ records }) => records.length === 1)).toBe(true);
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  for (let metric = 0; metric < 3; metric++) {
    const mine = samples.filter((sample) => sample.metric === `m${metric}`).map(({ time, value }) => `${time}|${value}`);
    const found = await read(machine.engine, `m${metric}`, { projection: ["greptime_timestamp", "greptime_value"] });
    expect(found.toSorted()).toEqual(mine.toSorted());
  }
});

test("what stays here is no row: memory comes back, and nothing is stored", async () => {
  const memory = new ServerMemory(1 << 30);
  const { machine } = await startWithWals(2, { memory, limits: { memtableBytes: 1 << 16 } });
  let most = 0;
  for (let i = 0; i < 300; i++) {
    await put(machine.engine, linesOf("cpu", 200, i));
    await new Promise<void>((resolve) => void setImmediate(resolve));
    most = Math.max(most, memory.bytesOf("memtables"));
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(1 << 19);
  await machine.engine.close();
  expect([machine.flushCount, machine.files.size, machine.wal.queued().records]).toEqual([0, 0, 0]);
});

test("series are defined anew for each lane, by its segments", async () => {
  const random = seededRandom(5);
  const { machine, elsewhere, rows } = await startWithWals(3);
  const expected = new Map<string, string>();
  for (let i = 0; i < 60; i++) {
    const lines = Array.from({ length: 1 + random.below(20) }, () => {
      const [table, host] = [`t${random.below(3)}`, `h${random.below(30)}`];
      expected.set(`${table} '${host}'|${i}`, `${table} '${host}'|${i}|${i}`);
      return `${table},host=${host} v=${i}i ${i}`;
    });
    await put(machine.engine, lines.join("\n"));
    if (random.below(4) === 0) elsewhere.lanes[random.below(3)]?.endSegment();
    if (random.below(6) === 0) await machine.engine.keepUp(); // Renews all registries.
  }
  expect(machine.engine.seriesState.renewals).toBeGreaterThan(0);
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  const found: string[] = [];
  for (const table of ["t0", "t1", "t2"]) found.push(...(await read(machine.engine, table)).map((row) => `${table} ${row}`));
  expect(found.toSorted()).toEqual([...expected.values()].toSorted());
});

test("series that nobody has to know here never stand in the way of new ones", async () => {
  const memory = new ServerMemory(3 * 1024 * 1024);
  const seriesRenewal = { seriesMin: 100, restMillis: 0 };
  const { machine, elsewhere, rows } = await startWithWals(2, { memory, seriesRenewal });
  for (let i = 0; i < 5; i++) {
    const lines = Array.from({ length: 30_000 }, (_, host) => `cpu,host=h${i}-${host} v=1i 1`);
    await put(machine.engine, lines.join("\n"));
    await machine.engine.keepUp();
    expect(machine.engine.seriesState).toEqual({ count: 0, renewals: 2 * (i + 1) });
  }
  await put(machine.engine, "cpu,host=h0-7 v=2i 2");
  await machine.engine.keepUp();
  expect(machine.engine.seriesState.renewals).toBe(10); // There is room.
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  expect((await read(machine.engine, "cpu")).length).toBe(150_001);
});

test("a lane that fails fails the request; rows of other shards stay, and so do later ones of its own", async () => {
  const { machine, elsewhere, rows } = await startWithWals(4);
  const [lane] = elsewhere.lanes;
  if (lane === undefined) throw new Error("a lane");
  lane.fails = new DbError(StatusCode.RateLimited, "full");
  expect(await refusal(put(machine.engine, linesOf("cpu", 40)))).toMatchObject({ code: "RateLimited", message: "full" });
  expect(machine.engine.troubles().now).toMatchObject([{ part: "log", reason: "full" }]);
  const other = elsewhere.lanes[1];
  if (other === undefined) throw new Error("a lane");
  other.fails = new DbError(StatusCode.StorageUnavailable, "nobody knows");
  expect(await refusal(put(machine.engine, linesOf("cpu", 40, 2)))).toMatchObject({ code: "StorageUnavailable" });
  [lane.fails, other.fails] = [undefined, undefined];
  await put(machine.engine, linesOf("cpu", 40, 3));
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  const found = await read(machine.engine, "cpu");
  const ofTime = (time: number): number => found.filter((row) => row.endsWith(`|${time}`)).length;
  expect(ofTime(3)).toBe(40);
  expect(ofTime(1)).toBeLessThan(40);
  expect(ofTime(2)).toBeLessThan(ofTime(1));
  expect(ofTime(2)).toBeGreaterThan(0);
});

test("chunks are kept until all lanes have answered", async () => {
  const { machine, elsewhere, rows } = await startWithWals(2, { limits: { memtableBytes: 1 << 12 } });
  const gate = Promise.withResolvers<void>();
  const [slow, quick] = elsewhere.lanes;
  if (slow === undefined || quick === undefined) throw new Error("two lanes");
  slow.gate = gate.promise;
  quick.fails = new DbError(StatusCode.RateLimited, "full");
  let isDone = false;
  const write = refusal(put(machine.engine, linesOf("cpu", 100))).then(() => {
    isDone = true;
  });
  await Bun.sleep(5);
  expect(isDone).toBe(false);
  gate.resolve();
  await write;
  quick.fails = undefined;
  slow.gate = undefined;
  await put(machine.engine, linesOf("cpu", 100));
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  expect((await read(machine.engine, "cpu")).toSorted()).toEqual(rowsOf(100, 1));
});

test("refused tables are left out, or refuse the batch; expired rows go nowhere", async () => {
  const { machine, elsewhere, rows } = await startWithWals(3);
  await put(machine.engine, "cpu,host=a v=1i 1");
  const view = { database: "public", name: "seen", query: "SELECT 1", queryDatabase: "public", sources: ["1"], columns: ["a"] };
  await machine.engine.createView({ ...view, definition: "CREATE VIEW seen AS SELECT 1" }, false);
  const lines = (time: number): string => `cpu,host=a v=1i ${time}\nseen,host=a v=1i ${time}`;
  expect(await refusal(put(machine.engine, lines(2), { allOrNothing: true }))).toMatchObject({ code: "TableAlreadyExists" });
  expect((await refusal(put(machine.engine, lines(3)))).message).toContain("seen");
  await put(machine.engine, `old,host=a v=1i ${systemClock.nowNanos()}`, { tableOptions: { ttl: "1h" } });
  await put(machine.engine, "old,host=b v=1i 1");
  expect(machine.engine.expiredRows).toBe(1);
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'a'|1|3"]);
  expect(await read(machine.engine, "old", { projection: ["host"] })).toEqual(["'a'"]);
});

test("writers wait for lanes that are busy, before anything is decoded", async () => {
  const { machine, elsewhere } = await startWithWals(2);
  await machine.engine.admit();
  expect(elsewhere.lanes.map(({ admitted }) => admitted)).toEqual([0, 0]);
  const [lane] = elsewhere.lanes;
  if (lane !== undefined) lane.isBusy = true;
  await machine.engine.admit();
  expect(elsewhere.lanes.map(({ admitted }) => admitted)).toEqual([1, 1]);
});

test("what is done to rows is asked of those who have them", async () => {
  const { machine, elsewhere } = await startWithWals(2);
  const { engine } = machine;
  await put(engine, linesOf("cpu", 2));
  await engine.flushTable("public", "cpu");
  await engine.compactTable("public", "cpu");
  await engine.buildIndexes("public", "cpu");
  await engine.truncateTable("public", "cpu");
  await engine.alterTable("public", "cpu", { kind: "set-options", options: { merge_mode: "last_non_null" } });
  expect(elsewhere.asked).toEqual([
    ["flush", "cpu"],
    ["compact", "cpu"],
    ["build-indexes", "cpu"],
    ["truncate", "cpu"],
    ["flush", "cpu"],
  ]);
  elsewhere.asked.length = 0;
  elsewhere.bounds = { start: 0n, end: 10_000_000_000_000_000n };
  await engine.alterTable("public", "cpu", { kind: "set-spread", spread: 2, from: 5n });
  expect(elsewhere.asked).toEqual([["bounds", "cpu"]]);
  expect(engine.table("public", "cpu")?.schema.options["spread"]).toBeDefined();
  expect(await refusal(engine.flushTable("public", "none"))).toMatchObject({ code: "TableNotFound" });
  expect(await refusal(engine.backups.begin())).toMatchObject({ code: "Unsupported" });
});

test("tables of all kinds are those of whoever has the rows, with the schema as it is now, until they go", async () => {
  const { machine, elsewhere } = await startWithWals(2);
  const { engine } = machine;
  await put(engine, linesOf("cpu", 2));
  await engine.write("public", metricBatch([{ metric: "m", labels: { a: "b" }, time: 1, value: 1 }]), {
    ...AUTO,
    physicalTable: "greptime_physical_table",
  });
  const names = engine.tables("public").map(({ schema }) => schema.name);
  expect(names.toSorted()).toEqual(["cpu", "greptime_physical_table", "m"]);
  const cpu = engine.table("public", "cpu");
  const physical = engine.table("public", "greptime_physical_table");
  expect([engine.table("public", "cpu") === cpu, physical?.schema.options["physical_metric_table"]]).toEqual([true, ""]);
  await put(engine, "cpu,host=a,rack=r v=1i,w=2i 5");
  expect(cpu?.schema.columns.map(({ name }) => name).toSorted()).toEqual(["greptime_timestamp", "host", "rack", "v", "w"]);
  const metric = engine.table("public", "m")?.schema.id ?? 0;
  await engine.truncateTable("public", "m"); // Has another id from now on, and nobody asks for its rows.
  expect([elsewhere.asked, elsewhere.forgotten]).toEqual([[], [metric]]);
  const again = engine.table("public", "m")?.schema.id ?? 0;
  await engine.dropTable("public", "m", false);
  await engine.dropTable("public", "cpu", false);
  expect(elsewhere.forgotten).toEqual([metric, again, cpu?.schema.id ?? 0]);
});

test("a table that is dropped while rows of it are under way goes once they are answered, and their client sends them again", async () => {
  const { machine, elsewhere, rows } = await startWithWals(2);
  await put(machine.engine, `${linesOf("cpu", 10)}\n${linesOf("mem", 10)}`);
  const gate = Promise.withResolvers<void>();
  for (const lane of elsewhere.lanes) lane.gate = gate.promise;
  const write = put(machine.engine, `${linesOf("cpu", 10, 2)}\n${linesOf("mem", 10, 2)}`);
  const refused = refusal(write);
  const drop = machine.engine.dropTable("public", "cpu", false);
  gate.resolve();
  expect([await refused, await drop]).toMatchObject([{ code: "RegionBusy" }, true]);
  for (const lane of elsewhere.lanes) lane.gate = undefined;
  await put(machine.engine, linesOf("cpu", 3, 3)); // Another table of that name.
  await rows(elsewhere.lanes.map(({ wal }) => wal));
  expect((await read(machine.engine, "cpu")).toSorted()).toEqual(rowsOf(3, 3));
  expect((await read(machine.engine, "mem")).toSorted()).toEqual(rowsOf(10, 1, 2));
});

test("writers are told to come back while rows that no lane answers take all memory, and go on when they do", async () => {
  const limits = { memtableBytes: 1 << 14, writeBufferBytes: 1 << 17, stallMillis: 50 };
  const { machine, elsewhere } = await startWithWals(2, { limits });
  const gate = Promise.withResolvers<void>();
  for (const lane of elsewhere.lanes) lane.gate = gate.promise;
  const writes: Promise<unknown>[] = [];
  const outcome = async (): Promise<string> => {
    for (let i = 0; i < 1000; i++) {
      const refused = await machine.engine.admit().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refused instanceof DbError) return StatusCode.RateLimited === refused.code ? "refused" : refused.message;
      writes.push(put(machine.engine, linesOf("cpu", 200, i)));
    }
    return "never";
  };
  expect(await outcome()).toBe("refused");
  gate.resolve();
  await Promise.all(writes);
  for (let i = 0; i < 20; i++) {
    await machine.engine.admit();
    await put(machine.engine, linesOf("cpu", 200, i));
  }
  await machine.engine.close();
});

test("it has no other threads that write", async () => {
  expect(await refusal(startWithWals(2, { threads: 1 }))).toMatchObject({ code: "Unsupported" });
});

test("a write to a table that others had dropped before it came is decoded and written again", async () => {
  const { machine, elsewhere } = await startWithWals(2);
  const { engine } = machine;
  await put(engine, linesOf("cpu", 4));
  await put(engine, linesOf("mem", 4));
  const dropped = (table: string): void => {
    elsewhere.onRefresh = async () => {
      elsewhere.onRefresh = () => Promise.resolve();
      await engine.dropTable("public", table, true);
    };
  };
  dropped("cpu");
  expect(await refusal(put(engine, linesOf("cpu", 4, 2)))).toMatchObject({ code: "RegionBusy" });
  dropped("mem");
  expect(await put(engine, linesOf("cpu", 4, 3))).toEqual({ rowCount: 4 });
  await put(engine, linesOf("mem", 4));
  elsewhere.onRefresh = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "the catalogue does not answer"));
  expect(await refusal(put(engine, linesOf("cpu", 4, 4)))).toMatchObject({ code: "StorageUnavailable" });
});
