import { describe, expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { regionsOf } from "../../../test/engine/regions.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { metricBatch } from "../../../test/support/metric-batch.ts";
import { MovingClock } from "../../../test/support/moving-clock.ts";
import { ServerMemory } from "../../base/memory/server-memory.ts";
import { InfluxDecoder } from "../../ingest/influx/decode.ts";
import { ALL_TIME } from "../../table/scan.ts";

const NOW = 1_700_000_000n * 1_000_000_000n;
const WORTH_IT = { seriesMin: 100, restMillis: 0 };

/** Lines of series `[from, to)` of table `cpu`. */
const lines = (from: number, to: number, time: bigint): string =>
  Array.from({ length: to - from }, (_, i) => `cpu,pod=p${from + i},zone=z${(from + i) % 3} v=${from + i}i ${time}`).join("\n");

/** Series held, counted now. */
async function heldSeries(machine: Machine): Promise<number> {
  await machine.engine.keepUp();
  return machine.engine.seriesState.count;
}

const counted = (machine: Machine): Promise<string> => engineSql(machine.engine, "SELECT count(*), count(DISTINCT pod), sum(v) FROM cpu");

/** Writes generations of series that live for ten seconds, each flushed; rows that have expired leave with their files. */
async function churn(machine: Machine, clock: MovingClock, generations: number, from = 0): Promise<void> {
  for (let g = from; g < from + generations; g++) {
    await put(machine.writer(g % (machine.threads.length + 1)), lines(g * 200, (g + 1) * 200, clock.nowNanos()), {
      tableOptions: { ttl: "10s" },
    });
    await machine.engine.flushTable("public", "cpu");
    clock.nanos += 6_000_000_000n;
    await machine.engine.compactTable("public", "cpu"); // Takes files away whose rows have expired.
    await machine.engine.keepUp();
  }
}

describe("series whose rows have gone", () => {
  test.each([0, 2])("are let go, whichever of %i ingest threads wrote them", async (threads) => {
    const clock = new MovingClock(NOW);
    const machine = await Machine.start({ clock, threads, seriesRenewal: WORTH_IT });
    await churn(machine, clock, 20);
    expect(machine.engine.seriesState.renewals).toBeGreaterThan(3);
    expect(await heldSeries(machine)).toBeLessThan(1000); // Of 4,000 that were written.
    expect(await counted(machine)).toBe("200|200|779900");
    await machine.crash();
    expect(await counted(machine)).toBe("200|200|779900");
  });

  test("stay while no rows have gone, however many there are", async () => {
    const machine = await Machine.start({ seriesRenewal: WORTH_IT });
    for (let g = 0; g < 5; g++) {
      await put(machine.engine, lines(g * 200, (g + 1) * 200, NOW));
      await machine.engine.flushTable("public", "cpu");
      await machine.engine.keepUp();
    }
    expect(machine.engine.seriesState).toEqual({ count: 1000, renewals: 0 });
  });

  test("come back under other numbers when they are written again", async () => {
    const machine = await Machine.start();
    await put(machine.engine, lines(0, 100, NOW));
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, lines(50, 60, NOW + 1n));
    await machine.engine.keepUp();
    expect(await heldSeries(machine)).toBe(10);
    await put(machine.engine, lines(0, 100, NOW + 2n));
    expect(await heldSeries(machine)).toBe(100);
    expect(await counted(machine)).toBe("210|100|10445");
    await machine.engine.keepUp();
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.compactTable("public", "cpu");
    expect(await counted(machine)).toBe("210|100|10445");
  });

  test("are logged again where the segment had others under their numbers", async () => {
    const machine = await Machine.start({ segmentBytes: 1 << 20 });
    const decoder = new InfluxDecoder();
    const send = async (text: string): Promise<void> => {
      const options = {
        database: "public",
        precision: "ns" as const,
        defaultTimeNanos: 0n,
        schemas: machine.engine,
        timeColumn: "greptime_timestamp",
      };
      const { batch } = decoder.decode(new TextEncoder().encode(text), options); // One dictionary of keys, as a connection has.
      await machine.engine.write("public", batch, { autoCreate: true, tableOptions: {} });
    };
    await send(lines(0, 10, NOW));
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.keepUp(); // Nothing is in memory: number 0 is free.
    expect(await heldSeries(machine)).toBe(0);
    await send(lines(5, 15, NOW + 1n));
    await machine.engine.keepUp();
    await send(lines(0, 15, NOW + 2n));
    expect(await counted(machine)).toBe("35|15|245");
    await machine.crash();
    expect(await counted(machine)).toBe("35|15|245");
  });
});

describe("what goes on while series begin anew", () => {
  test("a write that is being logged keeps its series", async () => {
    const machine = await Machine.start();
    await put(machine.engine, lines(0, 10, NOW));
    machine.wal.hold();
    const late = put(machine.engine, lines(20, 30, NOW));
    await machine.engine.keepUp();
    await machine.engine.keepUp();
    machine.wal.release();
    await late;
    const want = Array.from({ length: 20 }, (_, i) => (i < 10 ? i : i + 10)).map((n) => `'p${n}'|'z${n % 3}'|${n}`);
    const all = { projection: ["pod", "zone", "v"] };
    expect((await read(machine.engine, "cpu", all)).toSorted()).toEqual(want.toSorted());
    await machine.crash();
    expect((await read(machine.engine, "cpu", all)).toSorted()).toEqual(want.toSorted());
  });

  test("records of a thread that were begun before are understood, and so are those after", async () => {
    const machine = await Machine.start({ threads: 1 });
    await put(machine.writer(1), lines(0, 10, NOW));
    machine.logOf(1).hold();
    const late = put(machine.writer(1), lines(0, 20, NOW + 1n));
    await machine.engine.keepUp();
    const after = put(machine.writer(1), lines(15, 25, NOW + 2n));
    machine.logOf(1).release();
    await Promise.all([late, after]);
    expect(await counted(machine)).toBe("40|25|430");
    await machine.crash();
    expect(await counted(machine)).toBe("40|25|430");
  });

  test("a scan gives the numbers that it was begun with", async () => {
    const machine = await Machine.start();
    await put(machine.engine, lines(0, 10, NOW));
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, lines(5, 12, NOW + 1n));
    const table = machine.engine.table("public", "cpu");
    if (table === undefined) throw new Error("cpu exists");
    const { series: numbers } = table;
    await machine.engine.keepUp();
    await put(machine.engine, lines(30, 33, NOW + 1n));
    expect(table.series).not.toBe(numbers);
    const seen: string[] = [];
    const request = { projection: ["pod"], timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "none", numbers } as const;
    for await (const { runs } of table.scan(request)) for (const number of runs.series) seen.push(numbers.tagOf("pod", number) ?? "");
    expect(new Set(seen).size).toBe(15);
    expect(seen.length).toBeGreaterThanOrEqual(15);
  });

  test("a delete takes the rows of the series that it named", async () => {
    const machine = await Machine.start();
    await put(machine.engine, lines(0, 10, NOW));
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, lines(0, 10, NOW + 1n));
    const table = machine.engine.table("public", "cpu");
    if (table === undefined) throw new Error("cpu exists");
    const { series: numbers } = table;
    const named = Array.from({ length: 10 }, (_, number) => number).filter((number) => numbers.tagOf("zone", number) === "z1");
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, lines(20, 30, NOW + 1n));
    await machine.engine.keepUp();
    const times = { kind: "time", base: NOW, offsets: new Float64Array(named.length).fill(1), validity: undefined } as const;
    await table.deleteRows({ rowCount: named.length, series: Uint32Array.from(named), times, numbers });
    expect(await counted(machine)).toBe(`27|20|${45 + 45 - 12 + 245}`);
    await machine.crash();
    expect(await counted(machine)).toBe(`27|20|${45 + 45 - 12 + 245}`);
  });

  test("metrics keep their labels", async () => {
    const machine = await Machine.start({ threads: 1 });
    const samples = (from: number, to: number, time: number) =>
      Array.from({ length: to - from }, (_, i) => ({ metric: "up", labels: { job: `j${from + i}`, zone: "z" }, time, value: from + i }));
    const options = { autoCreate: true, tableOptions: {}, physicalTable: "p" };
    await machine.engine.write("public", metricBatch(samples(0, 20, 1), "p"), options);
    await machine.engine.flushTable("public", "p");
    await machine.engine.write("public", metricBatch(samples(10, 30, 2), "p"), options);
    const sql = "SELECT count(*), count(DISTINCT job), sum(greptime_value), min(zone) FROM up";
    expect(await engineSql(machine.engine, sql)).toBe("40|30|580|z");
    await machine.engine.keepUp();
    expect(await engineSql(machine.engine, sql)).toBe("40|30|580|z");
    await machine.engine.keepUp();
    await machine.engine.write("public", metricBatch(samples(25, 40, 3), "p"), options);
    expect(await engineSql(machine.engine, sql)).toBe("55|40|1060|z");
    expect(await engineSql(machine.engine, "SELECT count(*), count(DISTINCT __tsid), count(DISTINCT job) FROM p")).toBe("55|40|40");
    await machine.crash();
    expect(await engineSql(machine.engine, sql)).toBe("55|40|1060|z");
  });
});

describe("memory that series hold", () => {
  const MIB = 1024 * 1024;

  test("is counted, that of threads too", async () => {
    const memory = new ServerMemory(100 * MIB);
    const machine = await Machine.start({ threads: 1, memory, seriesRenewal: WORTH_IT });
    await put(machine.writer(1), lines(0, 20_000, NOW));
    await read(machine.engine, "cpu");
    machine.threads[0]?.countSeries();
    await machine.engine.keepUp();
    expect(memory.bytesOf("series")).toBeGreaterThan(2 * MIB);
  });

  test.each([1, 3])("is given back when it is short, and new series are refused when nothing can be, in %i shards", async (shards) => {
    const memory = new ServerMemory(3 * MIB);
    const machine = await Machine.start({ memory, shards, seriesRenewal: WORTH_IT });
    await put(machine.engine, lines(0, 30_000, NOW));
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.keepUp(); // Half of the limit is passed: the series of files go.
    expect(machine.engine.seriesState).toEqual({ count: 0, renewals: regionsOf(machine.engine).length });
    await put(machine.engine, lines(0, 30_000, NOW + 1n));
    await machine.engine.keepUp(); // All of them have rows in memory.
    const refused = await refusal(put(machine.engine, lines(30_000, 30_001, NOW)));
    expect(refused.code).toBe("RateLimited");
    expect(refused.message).toContain("memory.limit");
    await put(machine.engine, lines(0, 10, NOW + 2n)); // Known ones go on.
    expect(await counted(machine)).toBe("60010|30000|899970045");
  });
});
