import { describe, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";
import { StatusCode } from "../../base/status-code.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { WriteOptions } from "../../table/write-batch.ts";

const AUTO: WriteOptions = {
  autoCreate: true,
  tableOptions: { comment: "Created on insertion" },
  physicalTable: "greptime_physical_table",
};
const PHYSICAL = "CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '')";
const logical = (name: string, label: string): string =>
  `CREATE TABLE ${name} (ts TIMESTAMP TIME INDEX, val DOUBLE, ${label} STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table = 'phy')`;

const sample = (metric: string, labels: Sample["labels"], time: number, value: number): Sample => ({ metric, labels, time, value });

async function tables(): Promise<Machine> {
  const machine = await Machine.start();
  await engineSql(machine.engine, `${PHYSICAL}; ${logical("cpu", "host")}; ${logical("jobs", "job")}`);
  return machine;
}

async function check(machine: Machine, text: string, ...lines: readonly string[]): Promise<void> {
  expect((await engineSql(machine.engine, text)).split("\n")).toEqual([...lines]);
}

async function refused(machine: Machine, text: string, code: StatusCode, why: string): Promise<void> {
  const failure = await failureOf(engineSql(machine.engine, text));
  expect(failure.code).toBe(code);
  expect(failure.message).toContain(why);
}

describe("logical tables", () => {
  test("show their columns by name and hold rows of their own", async () => {
    const machine = await tables();
    await check(machine, "INSERT INTO cpu VALUES ('a', 0, 1), ('b', 1, 2); SELECT * FROM cpu ORDER BY host", "a|0|1", "b|1|2");
    await check(machine, "SELECT * FROM jobs", "");
    await check(machine, "INSERT INTO jobs VALUES ('x', 0, 3); SELECT * FROM jobs", "x|0|3");
    await check(machine, "SELECT count(*) FROM cpu", "2");
    await check(machine, "SHOW TABLES LIKE '%p%'", "cpu", "phy");
    await check(
      machine,
      "DESC TABLE jobs",
      "job|String|PRI|YES||TAG",
      "ts|TimestampMillisecond|PRI|NO||TIMESTAMP",
      "val|Float64||YES||FIELD",
    );
  });

  test("are described as they were made", async () => {
    const machine = await tables();
    const text = await engineSql(machine.engine, "SHOW CREATE TABLE cpu");
    expect(text).toBe(
      'cpu|CREATE TABLE IF NOT EXISTS "cpu" (\n  "host" STRING NULL,\n  "ts" TIMESTAMP(3) NOT NULL,\n  "val" DOUBLE NULL,\n' +
        '  TIME INDEX ("ts"),\n  PRIMARY KEY ("host")\n)\n\nENGINE=metric\nWITH(\n  on_physical_table = \'phy\'\n)',
    );
    await check(machine, "SELECT engine FROM information_schema.tables WHERE table_name = 'cpu'", "metric");
  });

  test("get new labels, which older rows do not have", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); ALTER TABLE cpu ADD COLUMN core STRING PRIMARY KEY");
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('c0', 'a', 0, 2), (NULL, 'a', 1, 3)");
    await check(machine, "SELECT core, host, ts, val FROM cpu ORDER BY ts, val", "|a|0|1", "c0|a|0|2", "|a|1|3");
    await check(machine, "SELECT val FROM cpu WHERE core IS NULL ORDER BY val", "1", "3");
    await check(machine, "SELECT host, count(*) FROM cpu GROUP BY host", "a|3");
  });

  test("take the default of their value", async () => {
    const machine = await tables();
    const other = logical("d", "host").replace("val DOUBLE", "val DOUBLE DEFAULT 42");
    await check(machine, `${other}; INSERT INTO d (host, ts) VALUES ('a', 0); SELECT * FROM d`, "a|0|42");
  });

  test("are written whatever their columns are called", async () => {
    const machine = await tables();
    await engineSql(
      machine.engine,
      "CREATE TABLE mem (at TIMESTAMP TIME INDEX, used DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table = 'phy')",
    );
    await engineSql(machine.engine, "INSERT INTO mem (at, used, host) VALUES (5, 7, 'a'); ADMIN flush_table('mem')");
    await check(machine, "SELECT used, at FROM mem WHERE used > 6", "7|5");
  });

  test.each([
    ["CREATE TABLE t (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE=metric", StatusCode.InvalidArguments, "needs the option"],
    [logical("t", "host").replace("'phy'", "'nope'"), StatusCode.TableNotFound, "physical table public.nope does not exist"],
    [logical("t", "host").replace("'phy'", "'cpu'"), StatusCode.TableNotFound, "public.cpu is no physical table"],
    [logical("t", "val2").replace("val DOUBLE", "val DOUBLE, w DOUBLE"), StatusCode.InvalidArguments, "one field, a DOUBLE; got 2"],
    [logical("t", "host").replace("val DOUBLE", "val BIGINT"), StatusCode.InvalidArguments, "field val of type BIGINT"],
    [logical("t", "host").replace("host STRING", "host INT"), StatusCode.InvalidArguments, "tag host of type INT"],
    [logical("t", "host").replace("ts TIMESTAMP", "ts TIMESTAMP(9)"), StatusCode.InvalidArguments, "time index is TIMESTAMP(9)"],
    [logical("t", "__tsid"), StatusCode.InvalidArguments, "a column __tsid"],
    [logical("t", "host").replace("'phy')", "'phy', append_mode = 'true')"), StatusCode.InvalidArguments, "append_mode is an option of"],
    ["ALTER TABLE cpu ADD COLUMN w DOUBLE", StatusCode.InvalidArguments, "takes tags alone"],
    ["ALTER TABLE cpu DROP COLUMN val", StatusCode.InvalidArguments, "Only support add columns operation"],
    ["ALTER TABLE cpu RENAME cpu2", StatusCode.InvalidArguments, "Only support add columns operation"],
    ["ALTER TABLE cpu SET 'ttl' = '7d'", StatusCode.InvalidArguments, "Only support add columns operation"],
    ["ALTER TABLE cpu ADD COLUMN host STRING PRIMARY KEY", StatusCode.TableColumnExists, "host already exists"],
  ] as const)("cannot be anything: %s", async (text, code, why) => {
    const machine = await tables();
    await refused(machine, text, code, why);
    await check(machine, "INSERT INTO cpu VALUES ('a', 0, 1); SELECT host FROM cpu", "a");
  });
});

describe("a physical table", () => {
  test("shows the rows of all its tables, with their labels", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); INSERT INTO jobs VALUES ('x', 0, 3), (NULL, 1, 4)");
    await check(machine, "SELECT ts, val, host, job FROM phy ORDER BY val", "0|1|a|", "0|3||x", "1|4||");
    await check(machine, "SELECT host, job, sum(val) FROM phy WHERE job = 'x' GROUP BY host, job", "|x|3");
    await check(machine, "SELECT count(DISTINCT __tsid), count(DISTINCT __table_id) FROM phy", "3|2");
    const ids = await engineSql(machine.engine, "SELECT table_id FROM information_schema.tables WHERE table_name = 'jobs'");
    await check(machine, `SELECT max(val) FROM phy WHERE __table_id = ${ids}`, "4");
  });

  test("lists rows by table and hash of the labels, as do its tables, before and after a flush", async () => {
    const machine = await Machine.start();
    await engineSql(machine.engine, `${PHYSICAL}; ${logical("t1", "host")}; ${logical("t2", "job")}`);
    await engineSql(machine.engine, "INSERT INTO t1 VALUES ('host1', 0, 0), ('host2', 1, 1)");
    await engineSql(machine.engine, "INSERT INTO t2 VALUES ('job1', 0, 0), ('job2', 1, 1)");
    const checkAll = async (): Promise<void> => {
      await check(machine, "SELECT * FROM t1", "host2|1|1", "host1|0|0");
      await check(machine, "SELECT host FROM t1 WHERE host != 'host3' LIMIT 1", "host2");
      await check(machine, "SELECT * FROM t2", "job1|0|0", "job2|1|1");
      await check(
        machine,
        "SELECT ts, val, __tsid, host, job FROM phy",
        "1|1|7947983149541006936|host2|",
        "0|0|13882403126406556045|host1|",
        "0|0|6248409809737953425||job1",
        "1|1|12867770218286207316||job2",
      );
    };
    await checkAll();
    await engineSql(machine.engine, "ADMIN flush_table('phy')");
    await checkAll();
    await engineSql(machine.engine, "INSERT INTO t2 VALUES ('job3', 0, 0), ('job4', 1, 1)");
    await check(machine, "SELECT job FROM t2", "job3", "job1", "job4", "job2");
  });

  test("has the engine's columns once there is a logical table, and hides them from SHOW CREATE", async () => {
    const machine = await Machine.start();
    await check(machine, `${PHYSICAL}; DESC TABLE phy`, "ts|TimestampMillisecond|PRI|NO||TIMESTAMP", "val|Float64||YES||FIELD");
    await check(
      machine,
      `${logical("cpu", "host")}; DESC TABLE phy`,
      "ts|TimestampMillisecond|PRI|NO||TIMESTAMP",
      "val|Float64||YES||FIELD",
      "__table_id|UInt32|PRI|NO||TAG",
      "__tsid|UInt64|PRI|NO||TAG",
      "host|String|PRI|YES||TAG",
    );
    expect(await engineSql(machine.engine, "SHOW CREATE TABLE phy")).not.toContain("__t");
  });

  test("gives its labels the index that its options say", async () => {
    const machine = await Machine.start();
    const options = "physical_metric_table = '', 'index.type' = 'skipping', 'index.granularity' = '8192'";
    await engineSql(machine.engine, `${PHYSICAL.replace("physical_metric_table = ''", options)}; ${logical("cpu", "host")}`);
    expect(await engineSql(machine.engine, "SHOW CREATE TABLE phy")).toContain(
      "\"host\" STRING NULL SKIPPING INDEX WITH(false_positive_rate = '0.01', granularity = '8192', type = 'BLOOM')",
    );
  });

  test.each([
    ["DROP TABLE phy", StatusCode.InvalidArguments, "Physical region is busy, there are still some logical regions using it"],
    ["ALTER TABLE phy ADD COLUMN b STRING PRIMARY KEY", StatusCode.Unsupported, "Alter request to physical region is forbidden"],
    ["ALTER TABLE phy RENAME other", StatusCode.Unsupported, "Alter request to physical region is forbidden"],
    ["ALTER TABLE phy DROP COLUMN val", StatusCode.Unsupported, "Alter request to physical region is forbidden"],
    ["ALTER TABLE phy DROP COLUMN host", StatusCode.InvalidArguments, "Not allowed to remove index column host from table phy"],
    ["INSERT INTO phy (ts, val) VALUES (0, 1)", StatusCode.Unsupported, "it is a physical table"],
    [PHYSICAL.replace("phy", "p2").replace("DOUBLE", "INT"), StatusCode.InvalidArguments, "field val of type INT"],
  ] as const)("refuses %s", async (text, code, why) => {
    await refused(await tables(), text, code, why);
  });

  test("goes when its logical tables are gone", async () => {
    const machine = await tables();
    await check(machine, "DROP TABLE cpu; DROP TABLE jobs; DROP TABLE phy; SHOW TABLES LIKE '%p%'", "");
    await machine.engine.createDatabase("other", {}, false);
    await engineSql(machine.engine, PHYSICAL);
    await machine.engine.dropDatabase("other", false);
  });
});

/** For what depends on which rows share a file. */
const ONE_FILE = { shards: 1 } as const;

describe("metrics of a protocol", () => {
  test("make their tables on the way, in one commit, one record, and in each shard one chunk and one file", async () => {
    const machine = await Machine.start();
    const { engine, wal } = machine;
    let commits = 0;
    const commit = machine.meta.commit.bind(machine.meta);
    machine.meta.commit = (changes) => {
      commits++;
      commit(changes);
    };
    const samples = Array.from({ length: 1000 }, (_, m) => sample(`metric_${m}`, { host: `h${m % 7}`, [`l${m % 90}`]: "x" }, 1000, m));
    const before = wal.segments().reduce((sum, { bytes }) => sum + bytes, 0);
    await engine.write("public", metricBatch(samples), AUTO);
    expect(commits).toBe(1);
    expect(wal.segments().reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(before);
    await engine.flushTable("public", "metric_5");
    expect([machine.flushCount, machine.files.size]).toEqual([machine.shards, machine.shards]);
    expect(engine.tables("public")).toHaveLength(1001);
    await check(machine, "SELECT * FROM metric_5", "1000|5|h5|x");
    await check(machine, "SELECT count(*), sum(greptime_value) FROM greptime_physical_table", "1000|499500");
    await check(machine, "SELECT l7, l8 FROM greptime_physical_table WHERE l8 = 'x' AND host = 'h1' AND greptime_value = 8", "|x");
  });

  test("have their labels in the order of names, and what the contract lists as options", async () => {
    const machine = await Machine.start();
    await machine.engine.write("public", metricBatch([sample("up", { zone: "z", instance: "i" }, 1, 1)]), AUTO);
    expect(await engineSql(machine.engine, "SHOW CREATE TABLE up")).toBe(
      'up|CREATE TABLE IF NOT EXISTS "up" (\n  "greptime_timestamp" TIMESTAMP(3) NOT NULL,\n  "greptime_value" DOUBLE NULL,\n' +
        '  "instance" STRING NULL,\n  "zone" STRING NULL,\n' +
        '  TIME INDEX ("greptime_timestamp"),\n  PRIMARY KEY ("instance", "zone")\n)\n\n' +
        "ENGINE=metric\nWITH(\n  'comment' = 'Created on insertion',\n  on_physical_table = 'greptime_physical_table'\n)",
    );
    await machine.engine.write("public", metricBatch([sample("up", { job: "j" }, 2, 0)]), AUTO);
    await check(machine, "SELECT * FROM up ORDER BY greptime_timestamp", "1|1|i||z", "2|0||j|");
  });

  test("go to the table of their name wherever it is", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "CREATE TABLE plain (t TIMESTAMP(9) TIME INDEX, v DOUBLE, host STRING PRIMARY KEY)");
    const dictionary = new SeriesDictionary();
    for (const time of [1, 2]) {
      const samples = [
        sample("cpu", { host: "a" }, time, 1),
        sample("plain", { host: "a" }, time, 2),
        sample("new", { host: "b" }, time, 3),
      ];
      await machine.engine.write("public", metricBatch(samples, "greptime_physical_table", dictionary), AUTO);
    }
    await check(machine, "SELECT * FROM cpu", "a|1|1", "a|2|1");
    await check(machine, "SELECT * FROM plain", "1000000|2|a", "2000000|2|a");
    await check(machine, "SELECT host FROM new", "b", "b");
    await check(machine, "SELECT count(*) FROM greptime_physical_table", "2");
  });

  test("of one name on two physical tables in one request stay together", async () => {
    const machine = await Machine.start();
    const dictionary = new SeriesDictionary();
    const one = metricBatch([sample("up", { host: "a" }, 1, 1)], "p1", dictionary);
    const two = metricBatch([sample("up", { host: "b" }, 1, 2), sample("down", {}, 1, 3)], "p2", dictionary);
    const batch = { dictionary, tables: [...one.tables, ...two.tables] };
    for (let i = 0; i < 2; i++) await machine.engine.write("public", batch, AUTO);
    await check(machine, "SELECT host, greptime_value FROM up ORDER BY host", "a|1", "b|2");
    expect(await engineSql(machine.engine, "SHOW CREATE TABLE up")).toContain("on_physical_table = 'p1'");
    expect(await engineSql(machine.engine, "SHOW CREATE TABLE down")).toContain("on_physical_table = 'p2'");
  });

  test("are refused where tables may not be made, and nothing of the request is kept", async () => {
    const machine = await tables();
    const closed: WriteOptions = { autoCreate: false, tableOptions: {}, physicalTable: "phy" };
    const write = (samples: readonly Sample[], options: WriteOptions, physical = "phy"): Promise<unknown> =>
      machine.engine.write("public", metricBatch(samples, physical), options);
    expect((await failureOf(write([sample("nope", {}, 1, 1)], closed))).code).toBe(StatusCode.TableNotFound);
    expect((await failureOf(write([sample("cpu", { rack: "r" }, 1, 1)], closed))).code).toBe(StatusCode.TableColumnNotFound);
    expect((await failureOf(write([sample("cpu", { val: "r" }, 1, 1)], AUTO))).message).toContain("val is a field column; got a tag");
    expect((await failureOf(write([sample("bad\nname", {}, 1, 1)], AUTO))).message).toContain("Invalid table name");
    expect((await failureOf(write([sample("m", { __labels: "x" }, 1, 1)], AUTO))).message).toContain("belongs to the metric engine");
    await engineSql(machine.engine, "CREATE TABLE plain (t TIMESTAMP TIME INDEX, v DOUBLE)");
    expect((await failureOf(write([sample("m", {}, 1, 1)], AUTO, "plain"))).message).toContain("cannot carry metrics");
    await write([sample("cpu", { host: "a" }, 1, 1)], closed);
    await check(machine, "SELECT count(*) FROM phy", "1");
  });
});

describe("rows of a dropped logical table", () => {
  test("are gone at once, and a table of the same name begins empty", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); INSERT INTO jobs VALUES ('x', 0, 3); DROP TABLE cpu");
    await check(machine, "SELECT val FROM phy", "3");
    await check(machine, `${logical("cpu", "host")}; SELECT * FROM cpu`, "");
    await check(machine, "INSERT INTO cpu VALUES ('a', 5, 9); SELECT * FROM cpu", "a|5|9");
    await machine.crash();
    await check(machine, "SELECT * FROM cpu", "a|5|9");
    await check(machine, "SELECT val FROM phy ORDER BY val", "3", "9");
  });

  test("are in no file that is written later", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); ADMIN flush_table('phy')");
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('b', 0, 2); INSERT INTO jobs VALUES ('x', 0, 3); DROP TABLE cpu");
    await engineSql(machine.engine, "ADMIN flush_table('phy')");
    const rows = (): number => machine.engine.table("public", "phy")?.statistics().rowCount ?? 0;
    expect(rows()).toBe(2);
    await engineSql(machine.engine, "ADMIN compact_table('jobs')");
    expect(rows()).toBe(1);
    await check(machine, "SELECT val FROM phy", "3");
  });

  test("free their room when they are most of a file, also after a power cut", async () => {
    const machine = await Machine.start({ ...ONE_FILE, compaction: { isAutomatic: true, triggerFiles: 4 } });
    await engineSql(machine.engine, `${PHYSICAL}; ${logical("cpu", "host")}; ${logical("jobs", "job")}`);
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1), ('b', 0, 2), ('c', 0, 3); INSERT INTO jobs VALUES ('x', 0, 4)");
    await engineSql(machine.engine, "ADMIN flush_table('phy')");
    const rows = (): number => machine.engine.table("public", "phy")?.statistics().rowCount ?? 0;
    machine.mergeFailure = "no space left";
    await machine.engine.dropTable("public", "cpu", false);
    await machine.engine.compactionIdle();
    await machine.crash();
    await machine.engine.compactionIdle();
    expect(rows()).toBe(4);
    machine.mergeFailure = undefined;
    await machine.crash();
    await machine.engine.compactionIdle();
    expect(rows()).toBe(1);
    expect(machine.meta.list("unclean/")).toEqual([]);
    await check(machine, "SELECT val, job FROM phy", "4|x");
    await machine.engine.dropTable("public", "jobs", false);
    await machine.engine.compactionIdle();
    expect([rows(), machine.files.size]).toEqual([0, 0]);
  });

  test("stay in a file that has more of others, until a merge", async () => {
    const machine = await Machine.start({ ...ONE_FILE, compaction: { isAutomatic: true, triggerFiles: 4 } });
    await engineSql(machine.engine, `${PHYSICAL}; ${logical("cpu", "host")}; ${logical("jobs", "job")}`);
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); INSERT INTO jobs VALUES ('x', 0, 2), ('y', 0, 3)");
    await engineSql(machine.engine, "ADMIN flush_table('phy'); DROP TABLE cpu");
    await machine.engine.compactionIdle();
    expect(machine.engine.compactionTotals.merges).toBe(0);
    expect(machine.meta.list("unclean/")).toEqual([]);
  });

  test("leave nothing to flush when there were no others", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); DROP TABLE cpu; ADMIN flush_table('phy')");
    expect(machine.files.size).toBe(0);
    await machine.crash();
    await check(machine, "SELECT * FROM phy", "");
  });
});

describe("a truncated logical table", () => {
  test("is empty and goes on, with other tables as they were", async () => {
    const machine = await tables();
    await engineSql(machine.engine, "INSERT INTO cpu VALUES ('a', 0, 1); INSERT INTO jobs VALUES ('x', 0, 3); ADMIN flush_table('phy')");
    await check(machine, "INSERT INTO cpu VALUES ('b', 0, 2); TRUNCATE TABLE cpu; SELECT * FROM cpu", "");
    await check(machine, "INSERT INTO cpu VALUES ('b', 1, 5); SELECT * FROM cpu", "b|1|5");
    await machine.crash();
    await check(machine, "SELECT * FROM cpu", "b|1|5");
    await check(machine, "SELECT val FROM phy ORDER BY val", "3", "5");
    await refused(machine, "TRUNCATE TABLE cpu FILE RANGE (0, 10)", StatusCode.Unsupported, "by file range");
    await check(machine, "TRUNCATE TABLE phy; SELECT * FROM phy", "");
  });
});

describe("after a power cut", () => {
  test("tables, labels and rows are there, flushed or not", async () => {
    const machine = await Machine.start({ segmentBytes: 2000 });
    const dictionary = new SeriesDictionary();
    const write = (metric: string, labels: Sample["labels"], time: number): Promise<unknown> =>
      machine.engine.write("public", metricBatch([sample(metric, labels, time, time)], "p", dictionary), { ...AUTO, physicalTable: "p" });
    for (let i = 0; i < 60; i++) {
      await write(`m${i % 13}`, { host: `h${i % 5}`, ...(i > 30 ? { [`late${i % 3}`]: "x" } : {}) }, i);
      if (i === 25) await machine.engine.flushTable("public", "p");
      if (i === 20 || i === 45) await machine.crash();
      if (i === 50) await machine.engine.compactTable("public", "p");
    }
    await machine.crash();
    await check(machine, "SELECT count(*), sum(greptime_value) FROM p", "60|1770");
    await check(machine, "SELECT greptime_value, host, late2 FROM m9 ORDER BY 1", "9|h4|", "22|h2|", "35|h0|x", "48|h3|");
    await machine.restart();
    await check(machine, "SELECT greptime_value, host, late2 FROM m9 ORDER BY 1", "9|h4|", "22|h2|", "35|h0|x", "48|h3|");
  });
});

test("a table of the metric engine from before it existed opens as the ordinary table that it was", async () => {
  const machine = await Machine.start();
  await engineSql(machine.engine, "CREATE TABLE old (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY)");
  await engineSql(machine.engine, "INSERT INTO old VALUES (1, 2, 'a')");
  const [entry] = machine.meta.list("table/");
  machine.meta.commit([
    { key: entry!.key, value: { ...(entry!.value as object), engine: "metric", options: { physical_metric_table: "" } } },
  ]);
  await machine.crash();
  await check(machine, "INSERT INTO old VALUES (2, 3, 'b'); SELECT * FROM old ORDER BY ts", "1|2|a", "2|3|b");
});
