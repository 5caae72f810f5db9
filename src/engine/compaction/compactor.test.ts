import { describe, expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";
import { ONE_REGION } from "../../../test/engine/regions.ts";
import { MovingClock } from "../../../test/support/moving-clock.ts";

const AUTO = { compaction: { isAutomatic: true, triggerFiles: 3 } };
const DAY = 86_400n * 1_000_000_000n;

/** A machine whose table cpu, of one region, has a file a batch of lines. */
async function machineOf(options: MachineOptions, ...batches: readonly string[]): Promise<Machine> {
  const machine = await Machine.start(options);
  for (const lines of batches) await flushed(machine, lines);
  return machine;
}

async function flushed(machine: Machine, lines: string): Promise<void> {
  await put(machine.engine, lines, ONE_REGION);
  await machine.engine.flushTable("public", "cpu");
}

function fileCount(machine: Machine): number {
  return machine.engine.table("public", "cpu")?.statistics().fileCount ?? 0;
}

const OVERLAPPING = ["cpu,host=a v=1 10\ncpu,host=b v=2 20", "cpu,host=a v=3 10\ncpu,host=a v=4 30", "cpu,host=b v=5 20\ncpu,host=c v=6 5"];
const MERGED = ["'a'|3|10", "'a'|4|30", "'b'|5|20", "'c'|6|5"];

describe("files of a window", () => {
  test("become one once there are enough, and its rows are those of before", async () => {
    const machine = await machineOf(AUTO, ...OVERLAPPING);
    expect(await read(machine.engine, "cpu")).toEqual(MERGED);
    await machine.engine.compactionIdle();
    expect([fileCount(machine), machine.files.size]).toEqual([1, 1]);
    expect(await read(machine.engine, "cpu")).toEqual(MERGED);
    expect(machine.engine.compactionTotals).toMatchObject({ merges: 1, failures: 0, inputFiles: 3, rowsWritten: 4 });
    await machine.restart();
    expect(await read(machine.engine, "cpu")).toEqual(MERGED);
  });

  test("wait while the table is busy, if they lie one after another, and become one when it is calm", async () => {
    const apart = [10, 20, 30].map((time) => `cpu,host=a v=1 ${time}\ncpu,host=b v=2 ${time + 1}`);
    const machine = await machineOf(AUTO, ...apart);
    await machine.engine.compactionIdle();
    expect([fileCount(machine), machine.engine.compactionTotals.merges]).toEqual([3, 0]);
    for (let tries = 0; fileCount(machine) > 1 && tries < 500; tries++) await Bun.sleep(10);
    expect([fileCount(machine), (await read(machine.engine, "cpu")).length]).toEqual([1, 6]);
  });

  test("stay when compaction is off, until it is asked for", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    await machine.engine.compactionIdle();
    expect(fileCount(machine)).toBe(3);
    await machine.engine.compactTable("public", "cpu");
    expect([fileCount(machine), await read(machine.engine, "cpu")]).toEqual([1, MERGED]);
  });

  test("merge when the table's option says so", async () => {
    const machine = await Machine.start({ compaction: { isAutomatic: true, triggerFiles: 100 } });
    await put(machine.engine, OVERLAPPING[0]!, { tableOptions: { ...ONE_REGION.tableOptions, "compaction.twcs.trigger_file_num": "2" } });
    await machine.engine.flushTable("public", "cpu");
    await flushed(machine, OVERLAPPING[1]!);
    await machine.engine.compactionIdle();
    expect(fileCount(machine)).toBe(1);
  });

  test("merge at the start", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    await machine.restart();
    expect(fileCount(machine)).toBe(3);
    const again = await machineOf({ ...AUTO, compaction: { isAutomatic: true, triggerFiles: 4 } }, ...OVERLAPPING);
    await flushed(again, "cpu,host=d v=7 1");
    again.holdMerge();
    await again.crash();
    await again.engine.compactionIdle();
    expect(fileCount(again)).toBe(1);
  });

  test("keep all rows in append mode", async () => {
    const machine = await Machine.start(AUTO);
    for (const v of [1, 2, 3]) {
      await put(machine.engine, `cpu,host=a v=${v} 10`, { tableOptions: { append_mode: "true" } });
      await machine.engine.flushTable("public", "cpu");
    }
    await machine.engine.compactionIdle();
    expect([fileCount(machine), (await read(machine.engine, "cpu")).sort()]).toEqual([1, ["'a'|1|10", "'a'|2|10", "'a'|3|10"]]);
  });

  test("get the values of columns that are younger than some of them", async () => {
    const machine = await machineOf({}, "cpu,host=a v=1 10", "cpu,host=a,zone=z v=2,w=3 20");
    await machine.engine.compactTable("public", "cpu");
    expect([fileCount(machine), await read(machine.engine, "cpu")]).toEqual([1, ["'a'|1|10|NULL|NULL", "'a'|2|20|'z'|3"]]);
  });
});

describe("while a merge runs", () => {
  test("scans go on with the files that they began with, which then go", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    const batches = machine.engine.table("public", "cpu")!.scan({
      projection: ["v"],
      timeRange: { start: 0n, end: 100n },
      tagPredicates: [],
      fieldBounds: [],
      order: "none",
    });
    const scan = batches[Symbol.asyncIterator]();
    await scan.next();
    await machine.engine.compactTable("public", "cpu");
    expect([fileCount(machine), machine.files.size]).toEqual([1, 4]);
    expect(await read(machine.engine, "cpu")).toEqual(MERGED);
    while ((await scan.next()).done !== true);
    expect(machine.files.size).toBe(1);
  });

  test("writes and flushes do not wait, and newer rows win", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    machine.holdMerge();
    const compacted = machine.engine.compactTable("public", "cpu");
    await flushed(machine, "cpu,host=a v=9 10");
    expect(fileCount(machine)).toBe(4);
    machine.releaseMerge();
    await compacted;
    const want = ["'a'|9|10", ...MERGED.slice(1)];
    expect([fileCount(machine), await read(machine.engine, "cpu")]).toEqual([2, want]);
    await machine.restart();
    expect(await read(machine.engine, "cpu")).toEqual(want);
  });

  test("the table can be dropped: nothing of it stays", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    machine.holdMerge();
    const compacted = machine.engine.compactTable("public", "cpu");
    await machine.engine.dropTable("public", "cpu", false);
    machine.releaseMerge();
    await compacted;
    expect([...machine.files.keys()]).toEqual([]);
  });

  test("the server can lose power: the old files count, the new one goes", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    machine.holdMerge();
    void machine.engine.compactTable("public", "cpu"); // It never ends: the machine loses power.
    while (machine.files.size < 4) await Bun.sleep(1);
    await machine.crash();
    expect([fileCount(machine), machine.files.size, await read(machine.engine, "cpu")]).toEqual([3, 3, MERGED]);
  });
});

describe("a merge that fails", () => {
  test("says why, leaves the files, and is made good later", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    machine.mergeFailure = "no space left";
    expect((await refusal(machine.engine.compactTable("public", "cpu"))).message).toContain("no space left");
    expect([fileCount(machine), await read(machine.engine, "cpu")]).toEqual([3, MERGED]);
    machine.mergeFailure = undefined;
    await machine.engine.compactTable("public", "cpu");
    expect([fileCount(machine), await read(machine.engine, "cpu")]).toEqual([1, MERGED]);
  });

  test("in the background is tried again", async () => {
    const machine = await Machine.start(AUTO);
    machine.mergeFailure = "no space left";
    for (const lines of OVERLAPPING) await flushed(machine, lines);
    await machine.engine.compactionIdle();
    expect([fileCount(machine), machine.engine.compactionTotals.failures]).toEqual([3, 1]);
    machine.mergeFailure = undefined;
    await flushed(machine, "cpu,host=a v=4 30"); // Writes are not held up by it.
    expect(await read(machine.engine, "cpu")).toEqual(MERGED);
    await machine.engine.close();
  });

  test("at its commit leaves no doubt after the next one", async () => {
    const machine = await machineOf({}, ...OVERLAPPING);
    machine.commitFailure = "disk is full";
    await refusal(machine.engine.compactTable("public", "cpu"));
    machine.commitFailure = undefined;
    expect([fileCount(machine), await read(machine.engine, "cpu")]).toEqual([3, MERGED]);
    await flushed(machine, "cpu,host=e v=1 1");
    await machine.engine.compactTable("public", "cpu");
    await machine.crash();
    expect([fileCount(machine), machine.files.size, await read(machine.engine, "cpu")]).toEqual([1, 1, [...MERGED, "'e'|1|1"]]);
  });
});

describe("rows that expire", () => {
  test("leave with their files, or when their file is rewritten", async () => {
    const clock = new MovingClock(50n * DAY);
    const machine = await Machine.start({ clock });
    const times = [50n * DAY, 90n * DAY, 90n * DAY + DAY / 2n, 95n * DAY];
    const lines = times.map((time, i) => `cpu,host=a v=${i + 1} ${time}`).join("\n");
    await put(machine.engine, lines, { tableOptions: { ttl: "9days 18h" } });
    await machine.engine.flushTable("public", "cpu");
    expect(fileCount(machine)).toBe(3);
    clock.nanos = 100n * DAY;
    await machine.engine.compactTable("public", "cpu");
    expect(fileCount(machine)).toBe(2);
    expect(await read(machine.engine, "cpu")).toEqual([`'a'|3|${90n * DAY + DAY / 2n}`, `'a'|4|${95n * DAY}`]);
    expect(machine.files.size).toBe(2);
  });
});
