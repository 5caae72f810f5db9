import { describe, expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { MovingClock } from "../../../test/support/moving-clock.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import { Expiry } from "./expiry.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const NOW = 1_700_000_000n * SECOND;

/** A table with this ttl. */
function tableOf(ttl: string | undefined, unit: TimeUnit): Pick<TableSchema, "name" | "database" | "columns" | "options"> {
  const time: ColumnSchema = { id: 1, name: "ts", type: { kind: "timestamp", unit }, semantic: "timestamp", nullable: false };
  return { name: "t", database: "public", columns: [time], options: ttl === undefined ? {} : { ttl } };
}

/** The first living time of a table with this ttl. */
function before(ttl: string | undefined, unit: TimeUnit = "nanosecond", nowNanos: bigint = NOW, database?: string): bigint | undefined {
  const expiry = new Expiry(new MovingClock(nowNanos), () => (database === undefined ? {} : { ttl: database }));
  return expiry.before(tableOf(ttl, unit));
}

test("rows live as long as the ttl says, in the table's unit, and without an end where it names none", () => {
  const expiry = new Expiry(new MovingClock(NOW), () => ({ ttl: "1h" }));
  expect(expiry.lifetimeOf(tableOf("3m", "nanosecond"))).toBe(180n * SECOND);
  expect(expiry.lifetimeOf(tableOf("1500ms", "second"))).toBe(2n);
  expect(expiry.lifetimeOf(tableOf(undefined, "second"))).toBe(3600n);
  for (const ttl of ["forever", "instant", "0s"]) expect(expiry.lifetimeOf(tableOf(ttl, "second"))).toBeUndefined();
});

describe("rows have expired", () => {
  test("before now less the ttl, in the table's unit, rounded up", () => {
    expect(before("7days")).toBe(NOW - 7n * DAY);
    expect(before("1s", "second")).toBe(1_699_999_999n);
    expect(before("1s", "second", NOW + 1n)).toBe(1_700_000_000n);
    expect(before("1ms", "millisecond", NOW + 1n)).toBe(1_700_000_000_000n);
    expect(before("1day 1ns", "microsecond")).toBe((NOW - DAY) / 1000n);
    expect(before("100years", "second", 0n)).toBe(-3_155_760_000n);
    expect(before("1500ms", "second", 0n)).toBe(-1n);
  });

  test("never, without a ttl, with forever, nothing or 0", () => {
    for (const ttl of [undefined, "forever", "", "0s", "0"]) expect(before(ttl)).toBeUndefined();
  });

  test("all, with instant", () => expect(before("instant")).toBe(ALL_TIME.end));

  test("by the database's ttl where the table has none of its own", () => {
    expect(before(undefined, "second", NOW, "10s")).toBe(1_699_999_990n);
    expect(before("5s", "second", NOW, "10s")).toBe(1_699_999_995n);
    expect(before("forever", "second", NOW, "10s")).toBeUndefined();
  });

  test("never where the ttl reaches before the first time that there is", () => {
    expect(before("600years")).toBeUndefined();
    expect(before("600years", "second")).toBeLessThan(0n);
    expect(before("18446744073709551615s", "second")).toBeUndefined();
  });
});

const at = (...times: readonly bigint[]): string => times.map((time) => `cpu,host=a v=1i ${time}`).join("\n");
const times = async (machine: Machine): Promise<bigint[]> =>
  (await read(machine.engine, "cpu", { projection: ["greptime_timestamp"] })).map(BigInt);
const setTtl = async (machine: Machine, ttl: string | undefined): Promise<void> =>
  void (await machine.engine.alterTable("public", "cpu", { kind: "set-options", options: { ttl } }));

describe("a ttl", () => {
  async function started(ttl: string): Promise<{ machine: Machine; clock: MovingClock }> {
    const clock = new MovingClock(NOW);
    const machine = await Machine.start({ clock });
    await put(machine.engine, at(NOW - 1n), { tableOptions: { ttl } });
    return { machine, clock };
  }

  test("hides rows the moment they expire, in memory and in files", async () => {
    const { machine, clock } = await started("10s");
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, at(NOW, NOW + 5n * SECOND));
    clock.nanos = NOW + 10n * SECOND;
    expect(await times(machine)).toEqual([NOW, NOW + 5n * SECOND]);
    clock.nanos += 1n;
    expect(await times(machine)).toEqual([NOW + 5n * SECOND]);
    clock.nanos += 100n * SECOND;
    expect(await times(machine)).toEqual([]);
  });

  test("applies to the newest rows of series too", async () => {
    const { machine, clock } = await started("10s");
    clock.nanos += 60n * SECOND;
    expect(await read(machine.engine, "cpu", { newestPerSeries: true })).toEqual([]);
  });

  test("that is made longer gives back what was not yet removed", async () => {
    const { machine, clock } = await started("10s");
    await machine.engine.flushTable("public", "cpu");
    await setTtl(machine, "1s");
    clock.nanos += 5n * SECOND;
    expect(await times(machine)).toEqual([]);
    await setTtl(machine, "10s");
    expect(await times(machine)).toEqual([NOW - 1n]);
    await setTtl(machine, "1s");
    await machine.engine.compactTable("public", "cpu");
    await setTtl(machine, "forever");
    expect([await times(machine), machine.files.size]).toEqual([[], 0]);
  });

  test("of the database is inherited as it is now", async () => {
    const clock = new MovingClock(NOW);
    const machine = await Machine.start({ clock });
    await put(machine.engine, at(NOW - DAY));
    await machine.engine.alterDatabase("public", { ttl: "1h" });
    expect(await times(machine)).toEqual([]);
    await setTtl(machine, "forever");
    expect(await times(machine)).toEqual([NOW - DAY]);
    await setTtl(machine, undefined);
    await machine.engine.alterDatabase("public", { ttl: "2days" });
    expect(await times(machine)).toEqual([NOW - DAY]);
    await machine.engine.alterDatabase("public", { ttl: undefined });
    expect(await times(machine)).toEqual([NOW - DAY]);
  });

  test("of instant takes rows and keeps none", async () => {
    const { machine } = await started("instant");
    expect(await put(machine.engine, at(NOW, NOW + DAY, 2n ** 63n - 1n))).toEqual({ rowCount: 3 });
    expect(await times(machine)).toEqual([]);
    await setTtl(machine, undefined);
    await machine.crash();
    expect(await times(machine)).toEqual([NOW - 1n]); // Written with the table, before it had a ttl.
  });

  test("lets rows that come too late in, and drops them: alone without the log, others beside them stay", async () => {
    const { machine } = await started("1day");
    const sizeBefore = machine.engine.expiredRows;
    machine.wal.failNextWrite("no space left");
    expect(await put(machine.engine, at(NOW - DAY - 1n, 0n, -(2n ** 63n)))).toEqual({ rowCount: 3 });
    machine.wal.failNextWrite("no space left");
    await put(machine.engine, "cpu,host=b v=1i 5");
    expect(machine.engine.expiredRows - sizeBefore).toBe(4);
    await machine.crash();
    await put(machine.engine, at(NOW - DAY - 1n, NOW - DAY, NOW));
    expect(await times(machine)).toEqual([NOW - DAY, NOW - 1n, NOW]);
    expect(machine.engine.table("public", "cpu")?.statistics().seriesCount).toBe(1);
  });

  test("takes files away at a start, and rows of memory when they get to files", async () => {
    const { machine, clock } = await started("10s");
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, at(NOW));
    clock.nanos += 60n * SECOND;
    await machine.restart();
    await machine.engine.compactionIdle();
    expect([machine.files.size, machine.meta.list("file/").length]).toEqual([0, 0]);
  });

  test("does not bring an older version of a row back, whatever is removed first", async () => {
    const { machine, clock } = await started("forever");
    await put(machine.engine, `cpu,host=a v=1i ${NOW}\ncpu,host=a v=1i ${NOW + 100n * SECOND}`);
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, `cpu,host=a v=2i ${NOW}`);
    await machine.engine.flushTable("public", "cpu");
    clock.nanos += 50n * SECOND;
    await setTtl(machine, "20s");
    await put(machine.engine, `cpu,host=b v=3i ${clock.nanos}`);
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.compactionIdle();
    await setTtl(machine, undefined);
    const rows = await read(machine.engine, "cpu");
    expect(rows).not.toContain(`'a'|1|${NOW}`);
    expect(rows).toContain(`'a'|2|${NOW}`);
  });
});

test("options of compaction are the table's own, or else those of its database as they are now", () => {
  let database: Readonly<Record<string, string>> = { "compaction.twcs.trigger_file_num": "2" };
  const expiry = new Expiry(new MovingClock(NOW), () => database);
  const of = (options: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    expiry.compactionOptionsOf({ database: "public", options });
  expect(of({ ttl: "1h" })).toBe(database);
  database = { "compaction.twcs.trigger_file_num": "9" };
  expect(of({})).toBe(database);
  const own = { "compaction.twcs.max_output_file_size": "1MB" };
  expect(of(own)).toBe(own);
});
