import { expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";

const TABLES = 40;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1);
}

async function machineWithTables(options: MachineOptions = {}): Promise<Machine> {
  const machine = await Machine.start(options);
  const lines = Array.from({ length: TABLES }, (_, i) => `t${i},host=a v=${i}i 1`);
  await put(machine.engine, lines.join("\n"));
  return machine;
}

function fileCounts(machine: Machine): number[] {
  return Array.from({ length: TABLES }, (_, i) => machine.engine.table("public", `t${i}`)?.statistics().fileCount ?? -1);
}

test("small tables that hold the log become files with few commits", async () => {
  const machine = await machineWithTables({ segmentBytes: 500, limits: { logBytesMax: 3000, memtableBytes: 1 << 20 } });
  const { commitCount } = machine;
  const lines = Array.from({ length: 1000 }, (_, i) => `big,host=h${i % 10} v=${i * 7919}i ${i}`).join("\n");
  for (let i = 0; i < 5; i++) await put(machine.engine, lines);
  await until(() => fileCounts(machine).every((count) => count === 1));
  expect(machine.commitCount - commitCount).toBeLessThan(15);
  await until(() => machine.wal.segments().length <= 1);
  await machine.crash();
  expect(await read(machine.engine, "t7")).toEqual(["'a'|7|1"]);
  expect(await read(machine.engine, "t39")).toEqual(["'a'|39|1"]);
});

test("closing flushes all tables together", async () => {
  const machine = await machineWithTables();
  const { commitCount } = machine;
  await machine.restart();
  expect(fileCounts(machine)).toEqual(new Array(TABLES).fill(1));
  expect(machine.commitCount - commitCount).toBeLessThan(5);
  expect(machine.recovery.records).toBe(0);
});

test("when one table cannot be flushed, the others are, and it keeps its rows", async () => {
  const machine = await machineWithTables();
  machine.flushFailureOf = (job) => (job.schema.name === "t3" ? "no space left" : undefined);
  const error: unknown = await machine.engine.close().catch((cause: unknown) => cause);
  expect(String(error)).toContain("no space left");
  expect(machine.files.size).toBe(TABLES - 1);
  machine.flushFailureOf = () => undefined;
  await machine.crash();
  expect(await read(machine.engine, "t3")).toEqual(["'a'|3|1"]);
  expect(fileCounts(machine).filter((count) => count === 0)).toHaveLength(1);
});
