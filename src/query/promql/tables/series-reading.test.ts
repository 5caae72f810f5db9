/** Many metrics of one physical table are read at once, and as they are read one by one; newest samples as the last of all samples. */
import { expect, test } from "bun:test";
import { Machine } from "../../../../test/engine/machine.ts";
import { engineSql } from "../../../../test/support/engine-sql.ts";
import { metricBatch, type Sample } from "../../../../test/support/metric-batch.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import type { SelectorRead } from "../evaluation/series-source.ts";
import { metricSelector } from "../syntax/metric-selector.ts";
import { readingsOf } from "./series-reading.ts";
import { selectTables } from "./table-selection.ts";
import { TableSource } from "./table-source.ts";
import { eachOf } from "../../../../test/support/each-of.ts";

type Engine = Machine["engine"];

const OPTIONS = { autoCreate: true, tableOptions: {}, physicalTable: "p" };
const METRICS = 12;

/** Series of a selector as texts, sorted. */
async function seriesOf(engine: Engine, selector: string, more: Partial<SelectorRead> = {}): Promise<string[]> {
  let held = 0;
  const run = {
    signal: new AbortController().signal,
    pace: new Pace(new Scheduler()),
    reserve: (bytes: number) => void (held += bytes),
    release: (bytes: number) => void (held -= bytes),
  };
  const lines: string[] = [];
  const read = { matchers: metricSelector(selector), firstMillis: 0, lastMillis: 1000, ...more };
  const source = new TableSource(engine, "public", { samplesMax: 0, seriesMax: 0 });
  for await (const { labels, count, times, values } of eachOf(source.select(read, run))) {
    const samples = Array.from(times.subarray(0, count), (time, i) => `${values[i]}@${time}`);
    lines.push([labels.map(([name, value]) => `${name}=${value}`).join(","), ...samples].join(" "));
  }
  expect(held).toBe(0);
  return lines.sort();
}

/** Metrics m0 to m11 of different labels, in files and memory. */
async function metrics(): Promise<Engine> {
  const { engine } = await Machine.start();
  const samples: Sample[] = [];
  for (let m = 0; m < METRICS; m++) {
    for (let s = 0; s < 5; s++) {
      const zone: Record<string, string> = m % 3 === 0 ? {} : { zone: s === 4 ? "" : `z${s % 2}` };
      for (let time = 100; time <= 900; time += 100) {
        if ((time + s + m) % 7 === 0) continue;
        samples.push({ metric: `m${m}`, labels: { host: `h${s}`, ...zone, Upper: "U" }, time, value: m * 1000 + s * 100 + time / 100 });
      }
    }
  }
  const early = samples.filter(({ time }) => time < 500);
  await engine.write("public", metricBatch(early, "p"), OPTIONS);
  await engine.flushTable("public", "p");
  await engine.write(
    "public",
    metricBatch(
      samples.filter(({ time }) => time >= 500),
      "p",
    ),
    OPTIONS,
  );
  return engine;
}

function scansOf(engine: Engine, selector: string): number {
  return [...readingsOf(selectTables(metricSelector(selector), engine, "public"), engine, undefined)].length;
}

/** Selectors, and what they say of each metric on its own. */
const SELECTORS: readonly (readonly [name: string, others: string])[] = [
  ["m.+", ""],
  ["m.+", ', zone="z1"'],
  ["m.+", ', zone=""'],
  ["m.+", ', zone=~"z.*|"'],
  ["m.+", ', zone!="z1", zone=~".*1|.*0"'],
  ["m.+", ', host=~"h[12]", zone!~"z0"'],
  ["m.+", ', nosuch=""'],
  ["m(1|2|3|4|5|6|7|8|9)", ', Upper="U"'],
];

test.each(SELECTORS)("metrics %s%s are read at once as one by one", async (name, others) => {
  const engine = await metrics();
  const selector = `{__name__=~"${name}"${others}}`;
  const names = Array.from({ length: METRICS }, (_, m) => `m${m}`).filter((each) => new RegExp(`^${name}$`).test(each));
  for (const more of [
    {},
    { newestOnly: true },
    { firstMillis: 300, lastMillis: 600 },
    { labels: new Set(["zone"]) },
    { labels: new Set<string>() },
  ]) {
    const apart: string[] = [];
    for (const each of names) apart.push(...(await seriesOf(engine, `{__name__="${each}"${others}}`, more)));
    expect(await seriesOf(engine, selector, more)).toEqual(apart.sort());
  }
  expect(scansOf(engine, '{__name__=~"m.+"}')).toBe(1);
});

test("few metrics of many, and those that live shorter, are read one by one", async () => {
  const engine = await metrics();
  expect(scansOf(engine, '{__name__=~"m[1-7]"}')).toBe(7);
  expect(scansOf(engine, '{__name__=~"m[1-8]"}')).toBe(1);
  const short = metricBatch([{ metric: "m_short", labels: {}, time: 1, value: 1 }], "p");
  await engine.write("public", short, { ...OPTIONS, tableOptions: { ttl: "1d" } });
  expect(scansOf(engine, '{__name__=~"m.+"}')).toBe(2);
});

test("the newest samples are the last of all samples", async () => {
  const engine = await metrics();
  const newest = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/ .* /, " "));
  for (const selector of ["m1", "m3", '{__name__=~"m.+"}', 'm4{zone="z1"}']) {
    const last = newest(await seriesOf(engine, selector, { lastMillis: 700 }));
    expect(await seriesOf(engine, selector, { lastMillis: 700, newestOnly: true })).toEqual(last);
  }
});

test("a newest row without a value leaves the one before it", async () => {
  const { engine } = await Machine.start();
  await engineSql(engine, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, h STRING PRIMARY KEY, v DOUBLE)");
  await engineSql(engine, "INSERT INTO t VALUES (1, 'a', 1), (2, 'a', 2), (3, 'a', NULL), (1, 'b', 5), (2, 'c', NULL)");
  expect(await seriesOf(engine, "t", { newestOnly: true })).toEqual(["__name__=t,h=a 1@1 2@2", "__name__=t,h=b 5@1"]);
});

test("labels that nobody looks at are left out", async () => {
  const engine = await metrics();
  const lines = await seriesOf(engine, "m4", { labels: new Set(["zone"]), newestOnly: true });
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "__name__=m4",
    "__name__=m4,zone=z0",
    "__name__=m4,zone=z0",
    "__name__=m4,zone=z1",
    "__name__=m4,zone=z1",
  ]);
});
