/**
 * DELETE whose WHERE names fields, beside writes of the same rows: what is acknowledged meanwhile and does not match stays, whoever wrote
 * it and whatever is flushed, merged or restarted in between.
 */
import { staysSo } from "../../../test/engine/stays-so.ts";
import { afterEach, describe, expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";
import { ONE_REGION } from "../../../test/engine/regions.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { metricBatch } from "../../../test/support/metric-batch.ts";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { Deleter } from "./deleter.ts";

const prototype: Pick<Deleter, "deleteRows"> = Deleter.prototype;
const { deleteRows: real } = prototype as {
  deleteRows: (this: Deleter, ...args: Parameters<Deleter["deleteRows"]>) => Promise<number>;
};
afterEach(() => {
  prototype.deleteRows = real;
});

/** Does something between the scan of the next DELETEs and what each deletes; the number of the delete is given. */
function between(work: (round: number) => Promise<unknown>, rounds = 1): void {
  let round = 0;
  prototype.deleteRows = async function (this: Deleter, deletes) {
    // What the statement lends is its own until this returns.
    const own = deletes.map(({ keys, ...others }) => ({
      ...others,
      keys: { ...keys, series: keys.series.slice(), times: { ...keys.times, offsets: keys.times.offsets.slice() } },
    }));
    if (++round <= rounds) await work(round);
    return real.call(this, own);
  };
}

const rows = (machine: Machine): Promise<string[]> => read(machine.engine, "cpu");
const flush = (machine: Machine): Promise<void> => machine.engine.flushTable("public", "cpu");
const compact = (machine: Machine): Promise<void> => machine.engine.compactTable("public", "cpu");
const DELETE = "DELETE FROM cpu WHERE v > 10";

async function start(options: MachineOptions = {}, tableOptions: Readonly<Record<string, string>> = {}): Promise<Machine> {
  const machine = await Machine.start(options);
  await put(machine.engine, "cpu,host=a v=20i,w=20i 1\ncpu,host=a v=20i,w=20i 2\ncpu,host=b v=20i,w=20i 1", { tableOptions });
  return machine;
}

/** A DELETE whose record waits in a log that is held, behind that of a new version of a row: the new version stays. */
async function deletesBeside(machine: Machine, write: () => Promise<unknown>): Promise<void> {
  const deleted = engineSql(machine.engine, DELETE);
  while (machine.wal.queued().records < 2) await Bun.sleep(1);
  machine.wal.release();
  await write();
  expect(await deleted).toBe("affected 2");
  await staysSo(machine, ["'a'|1|1|1"]);
}

describe("a row that is overwritten while a DELETE by its value runs", () => {
  test.each([
    ["in memory", async () => undefined],
    ["flushed before", async (machine: Machine) => flush(machine)],
  ])("stays when its new version does not match, goes when it does (%s)", async (_, before) => {
    const machine = await start();
    await before(machine);
    between(() => put(machine.engine, "cpu,host=a v=1i,w=1i 1\ncpu,host=b v=30i,w=30i 1"));
    expect(await engineSql(machine.engine, DELETE)).toBe("affected 2");
    await staysSo(machine, ["'a'|1|1|1"]);
  });

  test.each([
    ["flushed", flush],
    [
      "flushed and merged",
      async (machine: Machine) => {
        await flush(machine);
        await compact(machine);
      },
    ],
  ])("stays when its new version is %s before the delete is written", async (_, harm) => {
    const machine = await start();
    await flush(machine);
    between(async () => {
      await put(machine.engine, "cpu,host=a v=1i,w=1i 1");
      await harm(machine);
    });
    expect(await engineSql(machine.engine, DELETE)).toBe("affected 2");
    await staysSo(machine, ["'a'|1|1|1"]);
  });

  test("stays when its new version has its number and is not durable yet", async () => {
    const machine = await start();
    let write: Promise<unknown> = Promise.resolve();
    between(async () => {
      machine.wal.hold();
      write = put(machine.engine, "cpu,host=a v=1i,w=1i 1");
    });
    await deletesBeside(machine, () => write);
  });

  test("stays when its new version had its number before the scan began", async () => {
    const machine = await start();
    machine.wal.hold();
    const write = put(machine.engine, "cpu,host=a v=1i,w=1i 1");
    await deletesBeside(machine, () => write);
  });

  test("goes when the write of its new version failed", async () => {
    const machine = await start();
    between(async () => {
      machine.wal.failNextWrite("EIO");
      expect((await refusal(put(machine.engine, "cpu,host=a v=1i,w=1i 1"))).code).toBe("StorageUnavailable");
    });
    expect(await engineSql(machine.engine, DELETE)).toBe("affected 3");
    await staysSo(machine, []);
  });

  test("goes where it is deleted by its tags: what is written meanwhile matches as well", async () => {
    const machine = await start();
    expect(await engineSql(machine.engine, "DELETE FROM cpu WHERE host = 'a'")).toBe("affected 2");
    await staysSo(machine, ["'b'|20|20|1"]);
  });

  test("of a table with a ttl stays as well", async () => {
    const machine = await start({}, { ttl: "forever" });
    await engineSql(machine.engine, "ALTER TABLE cpu SET 'ttl' = '200 years'");
    await put(machine.engine, `cpu,host=a v=20i,w=20i ${systemClock.nowMillis()}000000`);
    const [, time] = (await rows(machine))[0]?.match(/\|(\d+)$/) ?? [];
    between(() => put(machine.engine, `cpu,host=a v=1i,w=1i ${time}`));
    await engineSql(machine.engine, DELETE);
    expect(await rows(machine)).toContain(`'a'|1|1|${time}`);
  });
});

describe("where fields merge one by one", () => {
  const MERGED = { merge_mode: "last_non_null" };

  test("a row of which other fields are overwritten goes with what it is then, and what was written after it stays alone", async () => {
    const machine = await start({}, MERGED);
    between(() => put(machine.engine, "cpu,host=a w=1i 1"));
    expect(await engineSql(machine.engine, DELETE)).toBe("affected 3"); // It still has v = 20.
    await staysSo(machine, []);
  });

  test("a row of which the field of the condition is overwritten stays whole", async () => {
    const machine = await start({}, MERGED);
    between(() => put(machine.engine, "cpu,host=a v=1i 1"));
    expect(await engineSql(machine.engine, DELETE)).toBe("affected 2");
    await staysSo(machine, ["'a'|1|20|1"]);
  });

  test("rows that match and are written all the time are refused in the end, by table and number", async () => {
    const machine = await start({}, { ...MERGED, ...ONE_REGION.tableOptions });
    between((round) => put(machine.engine, `cpu,host=a w=${round}i 1`), Number.POSITIVE_INFINITY);
    const failure = await engineSql(machine.engine, DELETE).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DbError);
    expect(failure).toMatchObject({
      code: StatusCode.RegionBusy,
      message: expect.stringContaining("cannot delete from table cpu: 1 rows that"),
    });
    expect(await rows(machine)).toEqual(["'a'|20|16|1"]);
  });
});

test("rows that are replaced all the time by ones that match count as written after the DELETE", async () => {
  const machine = await start({}, ONE_REGION.tableOptions);
  between((round) => put(machine.engine, `cpu,host=a v=${20 + round}i 1`), Number.POSITIVE_INFINITY);
  expect(await engineSql(machine.engine, DELETE)).toBe("affected 2");
  await staysSo(machine, ["'a'|23|NULL|1"]);
});

describe("a row that an ingest thread overwrites while a DELETE by its value runs", () => {
  test("stays when the thread told of it after the scan", async () => {
    const machine = await start({ threads: 1 });
    between(() => put(machine.writer(1), "cpu,host=a v=1i,w=1i 1"));
    expect(await engineSql(machine.engine, DELETE)).toBe("affected 2");
    await staysSo(machine, ["'a'|1|1|1"]);
  });

  test.each([
    ["after the scan", true],
    ["before it", false],
  ])("stays when the thread had numbered it %s and tells of it when the delete is written", async (_, isAfterScan) => {
    const machine = await start({ threads: 1 });
    let write: Promise<unknown> = Promise.resolve();
    const begin = async (): Promise<void> => {
      machine.logOf(1).hold();
      write = put(machine.writer(1), "cpu,host=a v=1i,w=1i 1");
    };
    if (isAfterScan) between(begin);
    else await begin();
    const deleted = engineSql(machine.engine, DELETE);
    await Bun.sleep(30);
    machine.logOf(1).release();
    await write;
    expect(await deleted).toBe("affected 2");
    await staysSo(machine, ["'a'|1|1|1"]);
  });

  test("waits for the delete before it begins another write, which may be decoded again, and stays", async () => {
    const machine = await start({ threads: 1 });
    const thread = machine.threads[0];
    if (thread === undefined) throw new Error("there is a thread");
    machine.logOf(1).hold();
    const first = put(thread, "cpu,host=b v=2i,w=2i 1");
    const deleted = engineSql(machine.engine, DELETE);
    while (!machine.shared.isHolding) await Bun.sleep(1);
    expect(await refusal(put(thread, "cpu,host=a v=1i,w=1i 1"))).toMatchObject({ code: "RegionBusy" });
    let isAdmitted = false;
    const admitted = thread.admit().then(() => {
      isAdmitted = true;
    });
    await Bun.sleep(10);
    expect(isAdmitted).toBe(false);
    machine.logOf(1).release();
    await Promise.all([first, admitted, deleted]);
    await put(thread, "cpu,host=a v=1i,w=1i 1");
    await staysSo(machine, ["'a'|1|1|1", "'b'|2|2|1"]);
  });
});

test("a row of a logical table that is overwritten while a DELETE by its value runs stays", async () => {
  const machine = await Machine.start();
  const options = { autoCreate: true, tableOptions: {}, physicalTable: "phy" };
  const write = (value: number, time: number): Promise<unknown> =>
    machine.engine.write("public", metricBatch([{ metric: "load", labels: { job: "a" }, time, value }], "phy"), options);
  await write(20, 1);
  await write(20, 2);
  between(() => write(1, 1));
  const [field = ""] =
    machine.engine.table("public", "load")?.schema.columns.flatMap(({ name, semantic }) => (semantic === "field" ? name : [])) ?? [];
  expect(await engineSql(machine.engine, `DELETE FROM load WHERE ${field} > 10`)).toBe("affected 1");
  expect(await engineSql(machine.engine, `SELECT ${field} FROM load`)).toBe("1");
});
