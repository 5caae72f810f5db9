import { describe, expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { WriteOptions } from "../../table/write-batch.ts";
import type { IngestThread } from "./ingest-thread.ts";

const METRICS: WriteOptions = { autoCreate: true, tableOptions: {}, physicalTable: "phy" };
const PHYSICAL = "CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '')";
const logical = (name: string, label: string): string =>
  `CREATE TABLE ${name} (ts TIMESTAMP TIME INDEX, val DOUBLE, ${label} STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table = 'phy')`;

const sample = (metric: string, labels: Sample["labels"], time: number, value: number): Sample => ({ metric, labels, time, value });

/** What one connection to each thread sends: keys keep their meaning from request to request. */
class Sender {
  private readonly machine: Machine;
  private readonly dictionaries: SeriesDictionary[] = [];

  constructor(machine: Machine) {
    this.machine = machine;
  }

  async send(thread: number, ...samples: readonly Sample[]): Promise<void> {
    const dictionary = (this.dictionaries[thread] ??= new SeriesDictionary());
    const writer = this.machine.writer(thread) as Partial<IngestThread>;
    writer.refresh?.();
    await this.machine.writer(thread).write("public", metricBatch(samples, "phy", dictionary), METRICS);
  }
}

async function check(machine: Machine, text: string, ...lines: readonly string[]): Promise<void> {
  expect((await engineSql(machine.engine, text)).split("\n")).toEqual([...lines]);
}

describe("metrics from several threads", () => {
  test("share a physical table, whose labels and series are everyone's, through flush, merge and crash", async () => {
    const machine = await Machine.start({ threads: 2 });
    const { send } = bound(machine);
    await send(1, sample("up", { job: "a" }, 1, 1), sample("cpu", { host: "x" }, 1, 2));
    await send(2, sample("up", { job: "b", zone: "z" }, 1, 3), sample("mem", { host: "x" }, 1, 4));
    await send(0, sample("up", { job: "a" }, 2, 5));
    await send(1, sample("up", { job: "b", zone: "z" }, 2, 6), sample("mem", { host: "x" }, 2, 7));
    const looks = async (): Promise<void> => {
      expect(await read(machine.engine, "up")).toEqual(["1|1|'a'|NULL", "2|5|'a'|NULL", "1|3|'b'|'z'", "2|6|'b'|'z'"]);
      await check(machine, "SELECT host, greptime_value FROM mem ORDER BY 2", "x|4", "x|7");
      await check(machine, "SELECT count(*) FROM phy", "7");
      expect(machine.engine.table("public", "phy")?.statistics().seriesCount).toBe(4);
    };
    await looks();
    await machine.crash();
    await looks();
    await machine.engine.flushTable("public", "up");
    await bound(machine).send(2, sample("cpu", { host: "y" }, 1, 8));
    await machine.engine.flushTable("public", "up");
    await machine.engine.compactTable("public", "phy");
    await check(machine, "SELECT host, greptime_value FROM cpu ORDER BY host", "x|2", "y|8");
  });

  test("come as line protocol to logical tables as well, with new labels on the way", async () => {
    const machine = await Machine.start({ threads: 2 });
    await engineSql(machine.engine, `${PHYSICAL}; ${logical("cpu", "host")}`);
    await put(machine.writer(1), "cpu,host=a val=1 1000000");
    await put(machine.writer(2), "cpu,host=a,core=c val=2 1000000\ncpu,host=b val=3 1000000");
    await put(machine.writer(1), "cpu,host=a,core=c val=4 2000000");
    await put(machine.engine, "cpu,host=b val=5 1000000");
    const lines = ["|a|1|1", "|b|1|5", "c|a|1|2", "c|a|2|4"];
    await check(machine, "SELECT core, host, ts, val FROM cpu ORDER BY core NULLS FIRST, host, ts", ...lines);
    expect(await refusal(put(machine.writer(2), "cpu,host=a val=1,other=2 1"))).toMatchObject({ code: "InvalidArguments" });
    expect(await refusal(put(machine.writer(2), "phy,host=a val=1 1"))).toMatchObject({ code: "Unsupported" });
    await machine.crash();
    await check(machine, "SELECT core, host, ts, val FROM cpu ORDER BY core NULLS FIRST, host, ts", ...lines);
  });

  test("go to the tables of their names as these are when they come: dropped, emptied, made anew, ordinary", async () => {
    const machine = await Machine.start({ threads: 2 });
    const { send } = bound(machine);
    for (const thread of [1, 2]) await send(thread, sample("up", { job: `j${thread}` }, 1, thread));
    await machine.engine.truncateTable("public", "up");
    await send(1, sample("up", { job: "j1" }, 2, 10));
    await check(machine, "SELECT job, greptime_value FROM up", "j1|10");
    await machine.engine.dropTable("public", "up", false);
    await send(2, sample("up", { job: "j2" }, 3, 20));
    await send(1, sample("up", { job: "j1" }, 3, 30));
    await check(machine, "SELECT job, greptime_value FROM up ORDER BY job", "j1|30", "j2|20");
    await machine.engine.dropTable("public", "up", false);
    await put(machine.writer(2), "up,job=line greptime_value=1 1000000");
    await send(1, sample("up", { job: "j1" }, 4, 40), sample("cpu", {}, 4, 1));
    await check(machine, "SELECT job, greptime_value FROM up ORDER BY job", "j1|40", "line|1");
    await check(machine, "SELECT count(*) FROM phy", "1");
    await machine.engine.dropTable("public", "cpu", false);
    await machine.engine.dropTable("public", "phy", false);
    await send(2, sample("cpu", { new: "l" }, 5, 2));
    await check(machine, "SELECT new, greptime_value FROM cpu", "l|2");
  });

  test("that another thread put elsewhere meanwhile are written there, without decoding again", async () => {
    const machine = await Machine.start({ threads: 2 });
    const { send } = bound(machine);
    await send(1, sample("cpu", { host: "a" }, 1, 1));
    const second = machine.writer(2) as IngestThread;
    second.refresh();
    const batch = metricBatch([sample("up", { job: "a" }, 1, 1), sample("cpu", { host: "a" }, 1, 2)], "phy");
    await put(machine.writer(1), "up,job=line v=1 1000000"); // The second thread has not looked since.
    await send(1, sample("cpu", { host: "a", core: "c" }, 1, 3));
    await second.write("public", batch, METRICS);
    await check(machine, "SELECT job, v FROM up ORDER BY job", "a|1", "line|1");
    await check(machine, "SELECT core, greptime_value FROM cpu ORDER BY 2", "|2", "c|3");
  });

  test("reach a thread that is far behind with the whole catalog, in whatever order it comes", async () => {
    const machine = await Machine.start({ threads: 1 });
    const { send } = bound(machine);
    await send(1, sample("gone", { job: "a" }, 1, 1), sample("up", { job: "a" }, 1, 1));
    await machine.engine.dropTable("public", "gone", false);
    await send(0, ...Array.from({ length: 1100 }, (_, i) => sample(`m${i}`, { [`l${i % 7}`]: "v" }, 1, i)));
    await send(1, sample("m1099", { l0: "v" }, 2, 2), sample("up", { job: "a" }, 2, 2), sample("gone", { job: "a" }, 2, 2));
    await check(machine, "SELECT greptime_value FROM m1099 ORDER BY 1", "2", "1099");
    await check(machine, "SELECT greptime_value FROM up ORDER BY 1", "1", "2");
    await check(machine, "SELECT greptime_value FROM gone", "2");
  });
});

function bound(machine: Machine): { readonly send: Sender["send"] } {
  const sender = new Sender(machine);
  return { send: (...args) => sender.send(...args) };
}
