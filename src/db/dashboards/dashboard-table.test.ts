/** Saved dashboards where several servers have the same data. */
import { expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { MovingClock } from "../../../test/support/moving-clock.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { LocalDb } from "../local-db.ts";
import { type Dashboard, DashboardTable } from "./dashboard-table.ts";

const { signal } = new AbortController();

async function listed(table: DashboardTable): Promise<Dashboard[]> {
  return await Array.fromAsync(table.list(signal));
}

test("of a dashboard that two servers save at once there is one, which both save, list and remove", async () => {
  const machine = await Machine.start();
  const db = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
  const clocks = [new MovingClock(1_000_000_000n), new MovingClock(2_000_000_000n)] as const;
  const [a, b] = [new DashboardTable(db, clocks[0]), new DashboardTable(db, clocks[1])];
  await a.save({ name: "other", definition: "o" }, signal);
  // Neither has seen the other's.
  await Promise.all([a.save({ name: "d", definition: "of a" }, signal), b.save({ name: "d", definition: "of b" }, signal)]);
  expect(machine.engine.table("greptime_private", "dashboard")?.statistics().rowCount).toBe(3);
  const both = (definition: string): readonly Dashboard[] => [
    { name: "d", definition },
    { name: "other", definition: "o" },
  ];
  expect([await listed(a), await listed(b)]).toEqual([both("of b"), both("of b")] as never);
  await a.save({ name: "d", definition: "again" }, signal);
  expect([await listed(a), await listed(b)]).toEqual([both("again"), both("again")] as never);
  expect(await b.remove("d", signal)).toBe(true);
  expect([await a.remove("d", signal), await listed(a)]).toEqual([false, [{ name: "other", definition: "o" }]]);
  await machine.engine.close();
});
