import { expect, test } from "bun:test";
import { Machine } from "../../../../test/engine/machine.ts";
import { engineSql } from "../../../../test/support/engine-sql.ts";
import { failureOf } from "../../../../test/support/failure-of.ts";
import { metricBatch } from "../../../../test/support/metric-batch.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { metricSelector } from "../syntax/metric-selector.ts";
import { type SourceLimits, TableSource } from "./table-source.ts";
import { eachOf } from "../../../../test/support/each-of.ts";

type Engine = Machine["engine"];

const LOGICAL = { autoCreate: true, tableOptions: {}, physicalTable: "p" };
const NO_LIMITS: SourceLimits = { samplesMax: 0, seriesMax: 0 };

/** Series of a selector as texts, in the order of their labels: `{a="x"} 1@1000 2@2000`. Memory that was counted is given back. */
async function seriesOf(
  engine: Engine,
  selector: string,
  [firstMillis, lastMillis]: readonly [number, number] = [0, 1e15],
  limits = NO_LIMITS,
): Promise<string[]> {
  let held = 0;
  const run = {
    signal: new AbortController().signal,
    pace: new Pace(new Scheduler()),
    reserve: (bytes: number) => void (held += bytes),
    release: (bytes: number) => void (held -= bytes),
  };
  const lines: string[] = [];
  const read = { matchers: metricSelector(selector), firstMillis, lastMillis };
  for await (const { labels, count, times, values } of eachOf(new TableSource(engine, "public", limits).select(read, run))) {
    const text = labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",");
    lines.push([`{${text}}`, ...Array.from(times.subarray(0, count), (time, i) => `${values[i]}@${time}`)].join(" "));
  }
  expect(held).toBe(0);
  return lines.sort();
}

async function machine(...statements: readonly string[]): Promise<Engine> {
  const { engine } = await Machine.start();
  for (const statement of statements) await engineSql(engine, statement);
  return engine;
}

test("a table of any unit and number is a metric", async () => {
  const engine = await machine(
    "CREATE TABLE sec (ts TIMESTAMP(0) TIME INDEX, b STRING, a STRING, v BIGINT, PRIMARY KEY (b, a))",
    "INSERT INTO sec VALUES (1, 'x', 'y', 9007199254740993), (2, 'x', 'y', -1), (3, NULL, 'z', 7)",
    "CREATE TABLE fine (ts TIMESTAMP(9) TIME INDEX, h STRING PRIMARY KEY, v DECIMAL(10, 2))",
    "INSERT INTO fine VALUES (1000000, 'a', 1.25), (1999999, 'a', 2.5), (-1, 'a', 3), (2000000, 'a', NULL)",
    "CREATE TABLE wide (ts TIMESTAMP(6) TIME INDEX, v DECIMAL(38, 3))",
    "INSERT INTO wide VALUES (5000, 12345678901234567890.125)",
    "CREATE TABLE words (ts TIMESTAMP TIME INDEX, h STRING PRIMARY KEY, w STRING)",
    "INSERT INTO words VALUES (1, 'a', 'b')",
  );
  expect(await seriesOf(engine, "sec")).toEqual([
    '{__name__="sec",a="y",b="x"} 9007199254740992@1000 -1@2000',
    '{__name__="sec",a="z"} 7@3000',
  ]);
  // Rows of one millisecond are one sample, the last one.
  expect(await seriesOf(engine, "fine", [-5, 5])).toEqual(['{__name__="fine",h="a"} 3@-1 2.5@1']);
  expect(await seriesOf(engine, "wide")).toEqual(['{__name__="wide"} 12345678901234567000@5']);
  expect(await seriesOf(engine, "words")).toEqual([]);
  expect(await seriesOf(engine, "nosuch")).toEqual([]);
});

test("both ends of the time range count, in every unit", async () => {
  for (const precision of [0, 3, 6, 9]) {
    const engine = await machine(
      `CREATE TABLE t (ts TIMESTAMP(${precision}) TIME INDEX, v DOUBLE)`,
      "INSERT INTO t (ts, v) VALUES ('1970-01-01 00:00:01', 1), ('1970-01-01 00:00:02', 2), ('1970-01-01 00:00:03', 3)",
    );
    expect(await seriesOf(engine, "t", [1000, 2000])).toEqual(['{__name__="t"} 1@1000 2@2000']);
    expect(await seriesOf(engine, "t", [1001, 2999])).toEqual(['{__name__="t"} 2@2000']);
    expect(await seriesOf(engine, "t", [-Number.MAX_VALUE, Number.MAX_VALUE])).toHaveLength(1);
    expect(await seriesOf(engine, "t", [2001, 2000])).toEqual([]);
  }
});

test("matchers choose tables, columns, databases and series", async () => {
  const engine = await machine(
    "CREATE TABLE cpu (ts TIMESTAMP TIME INDEX, host STRING, user DOUBLE, sys DOUBLE, PRIMARY KEY (host))",
    "INSERT INTO cpu VALUES (1, 'a', 1, 10), (1, 'b', 2, 20), (1, NULL, 3, 30), (1, 'a.c', 4, 40)",
    "CREATE TABLE mem (ts TIMESTAMP TIME INDEX, zone STRING PRIMARY KEY, v DOUBLE)",
    "INSERT INTO mem VALUES (1, 'z', 5)",
    "CREATE DATABASE other",
    "CREATE TABLE other.cpu (ts TIMESTAMP TIME INDEX, v INT)",
    "INSERT INTO other.cpu VALUES (1, 6)",
  );
  const names = async (selector: string): Promise<string> => (await seriesOf(engine, selector)).map((line) => line.split(" ")[1]).join(" ");
  expect(await names('cpu{host="a"}')).toBe("1@1");
  expect(await names('cpu{host=""}')).toBe("3@1");
  expect(await names('cpu{host!="a"}')).toBe("4@1 2@1 3@1");
  expect(await names('cpu{host=~"a|"}')).toBe("1@1 3@1");
  expect(await names('cpu{host=~"a.*"}')).toBe("1@1 4@1");
  expect(await names('cpu{host=~"a\\\\.c"}')).toBe("4@1");
  expect(await names('cpu{host!~"a.*"}')).toBe("2@1 3@1");
  expect(await names('cpu{nosuch="x"}')).toBe("");
  expect(await names('cpu{nosuch="", host="a", ts=""}')).toBe("1@1");
  expect(await names('cpu{__field__="sys", host="a"}')).toBe("10@1");
  expect(await names('cpu{__field__="nosuch"}')).toBe("");
  expect(await seriesOf(engine, 'cpu{__field__=~"sys|user", host="a"}')).toEqual([
    '{__field__="sys",__name__="cpu",host="a"} 10@1',
    '{__field__="user",__name__="cpu",host="a"} 1@1',
  ]);
  expect(await names('{__name__=~"cpu|mem", zone="z"}')).toBe("5@1");
  expect(await names('{__name__!="cpu", zone=~"z|y"}')).toBe("5@1");
  expect(await names('{zone="z"}')).toBe("5@1");
  expect(await names('cpu{__database__="other"}')).toBe("6@1");
  expect(await names('cpu{__database__="nosuch"}')).toBe("");
  const refused = await failureOf(seriesOf(engine, 'cpu{__schema__=~"o.*"}'));
  expect(refused).toMatchObject({ code: StatusCode.InvalidArguments, message: expect.stringContaining("by =") });
});

test("tags that are NULL and empty are absent alike: their series are one, by time", async () => {
  const machine = await Machine.start();
  const { engine } = machine;
  const run = (text: string): Promise<unknown> => engineSql(machine.engine, text);
  await engineSql(engine, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, a STRING, b STRING, v DOUBLE, PRIMARY KEY (a, b))");
  await run("INSERT INTO t VALUES (1, NULL, 'x', 1), (3, NULL, 'x', 3), (1, NULL, 'y', 5), (7, 'q', NULL, 8)");
  expect(await seriesOf(engine, "t")).toEqual(['{__name__="t",a="q"} 8@7', '{__name__="t",b="x"} 1@1 3@3', '{__name__="t",b="y"} 5@1']);
  await run("INSERT INTO t VALUES (2, '', 'x', 2), (3, '', 'x', 30), (4, '', 'x', 4), (8, 'q', '', 9)");
  const want = ['{__name__="t",a="q"} 8@7 9@8', '{__name__="t",b="x"} 1@1 2@2 30@3 4@4', '{__name__="t",b="y"} 5@1'];
  expect(await seriesOf(engine, "t")).toEqual(want);
  expect(await seriesOf(engine, 't{a=""}')).toEqual(want.slice(1));
  expect(await seriesOf(engine, 't{a!="", b=""}')).toEqual(want.slice(0, 1));
  await run("ADMIN flush_table('t')");
  await machine.restart();
  expect(await seriesOf(machine.engine, "t")).toEqual(want); // What is in files alone is known when the scan gives its first series.
  expect(await failureOf(seriesOf(machine.engine, "t", [0, 10], { samplesMax: 7, seriesMax: 0 }))).toMatchObject({
    code: StatusCode.RuntimeResourcesExhausted,
  });
});

test("logical tables keep stale markers bit for bit, and their physical table is no metric", async () => {
  const { engine } = await Machine.start();
  const stale = new Float64Array(1);
  new Uint32Array(stale.buffer).set([2, 0x7ff00000]);
  const batch = metricBatch(
    [1, 2, 3].map((time) => ({ metric: "up", labels: { job: "a" }, time, value: time })),
    "p",
  );
  const vector = batch.tables[0]?.fields[0]?.vector;
  if (vector?.kind !== "number") throw new Error("numbers");
  (vector.values as Float64Array).set(stale, 1);
  await engine.write("public", batch, LOGICAL);
  const run = { signal: new AbortController().signal, pace: new Pace(new Scheduler()), reserve: () => undefined, release: () => undefined };
  const read = { matchers: metricSelector('{job="a"}'), firstMillis: 0, lastMillis: 10 };
  let seen = 0;
  for await (const { values, count, labels } of eachOf(new TableSource(engine, "public", NO_LIMITS).select(read, run))) {
    expect([...new Uint32Array(values.slice(1, 2).buffer)]).toEqual([2, 0x7ff00000]);
    expect([count, labels]).toEqual([
      3,
      [
        ["__name__", "up"],
        ["job", "a"],
      ],
    ]);
    seen++;
  }
  expect(seen).toBe(1);
});

test("a query that reads too much is refused, and one that nobody waits for ends", async () => {
  const engine = await machine(
    "CREATE TABLE t (ts TIMESTAMP TIME INDEX, h STRING PRIMARY KEY, v DOUBLE)",
    "INSERT INTO t VALUES (1, 'a', 1), (2, 'a', 1), (1, 'b', 1)",
  );
  const range = [0, 10] as const;
  expect(await seriesOf(engine, "t", range, { samplesMax: 3, seriesMax: 2 })).toHaveLength(2);
  expect(await failureOf(seriesOf(engine, "t", range, { samplesMax: 2, seriesMax: 0 }))).toMatchObject({
    code: StatusCode.RuntimeResourcesExhausted,
    message: expect.stringContaining("too many samples"),
  });
  expect(await failureOf(seriesOf(engine, "t", range, { samplesMax: 0, seriesMax: 1 }))).toMatchObject({
    message: expect.stringContaining("query.promql.series"),
  });
  const run = { signal: AbortSignal.abort(), pace: new Pace(new Scheduler()), reserve: () => undefined, release: () => undefined };
  const read = { matchers: metricSelector("t"), firstMillis: 0, lastMillis: 10 };
  const reading = Array.fromAsync(new TableSource(engine, "public", NO_LIMITS).select(read, run));
  expect(await failureOf(reading)).toMatchObject({ code: StatusCode.Cancelled });
});
