/** Keys whose values lie in them as bytes make the series that keys with strings make. */
import { describe, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";
import { fnv1a } from "../../base/bytes/hash.ts";
import { DEFAULT_PHYSICAL_TABLE } from "../../table/metric.ts";
import { SeriesDictionary, type TagShape } from "../../table/series-dictionary.ts";
import type { WriteBatch } from "../../table/write-batch.ts";

const OPTIONS = { autoCreate: true, tableOptions: {}, physicalTable: DEFAULT_PHYSICAL_TABLE };
const encoder = new TextEncoder();
const SEPARATOR = 1;

/** A dictionary whose keys are a metric and values, each behind a byte 1. */
function plainDictionary(): SeriesDictionary {
  return new SeriesDictionary(undefined, (bytes, start, end, _, spans, into) => {
    let value = -1;
    for (let at = start; at < end; at++) {
      if (bytes[at] !== SEPARATOR) continue;
      if (value >= 0) spans[into + 2 * value + 1] = at;
      spans[into + 2 * ++value] = at + 1;
    }
    if (value >= 0) spans[into + 2 * value + 1] = end;
  });
}

class Sender {
  readonly dictionary: SeriesDictionary = plainDictionary();
  private readonly shapes: Map<string, TagShape> = new Map();

  batch(samples: readonly Sample[]): WriteBatch {
    for (const sample of samples) this.add(sample);
    const { dictionary } = this;
    const [write] = metricBatch(samples, DEFAULT_PHYSICAL_TABLE, new SeriesDictionary()).tables;
    if (write === undefined) throw new Error("a write");
    return { dictionary, tables: [{ ...write, keys: Uint32Array.from(samples, (sample) => this.add(sample)) }] };
  }

  private add({ metric, labels }: Sample): number {
    const raw = encoder.encode([metric, ...Object.values(labels)].join("\x01"));
    const hash = fnv1a(raw, 0, raw.length);
    const known = this.dictionary.find(raw, 0, raw.length, hash);
    if (known >= 0) return known;
    const names = Object.keys(labels);
    const kind = [metric, ...names].join();
    const shape = this.shapes.get(kind) ?? { table: metric, names };
    this.shapes.set(kind, shape);
    return this.dictionary.addPlain(new DataView(raw.buffer), 0, raw.length, hash, shape);
  }
}

const sample = (metric: string, labels: Sample["labels"], time: number, value: number): Sample => ({ metric, labels, time, value });

async function check(machine: Machine, text: string, ...lines: readonly string[]): Promise<void> {
  expect((await engineSql(machine.engine, text)).split("\n")).toEqual([...lines]);
}

describe("keys with their values as bytes", () => {
  test("are the series of keys with strings", async () => {
    const machine = await Machine.start();
    const sender = new Sender();
    const samples = [
      sample("up", { job: "a", instance: "h1" }, 1, 1),
      sample("up", { job: "b", instance: "h1" }, 1, 2),
      sample("up", { job: "é", instance: "\u{1f600}" }, 1, 3),
      sample("free", { zone: "z", job: "a" }, 1, 4),
      sample("bare", {}, 1, 5),
    ];
    await machine.engine.write("public", sender.batch(samples), OPTIONS);
    await machine.engine.write("public", metricBatch(samples.map((each) => ({ ...each, time: 2 }))), OPTIONS);
    await check(machine, "SELECT job, instance, count(*) FROM up GROUP BY job, instance ORDER BY job", "a|h1|2", "b|h1|2", "é|\u{1f600}|2");
    await check(machine, "SELECT zone, job, count(*) FROM free GROUP BY zone, job", "z|a|2");
    await check(machine, "SELECT count(*) FROM bare", "2");
    expect(machine.engine.table("public", DEFAULT_PHYSICAL_TABLE)?.statistics().seriesCount).toBe(5);
  });

  test("get new labels, and a table that was dropped meanwhile", async () => {
    const machine = await Machine.start();
    const sender = new Sender();
    await machine.engine.write("public", sender.batch([sample("up", { job: "a" }, 1, 1)]), OPTIONS);
    await machine.engine.write("public", sender.batch([sample("up", { zone: "z", job: "a" }, 1, 2)]), OPTIONS);
    await check(machine, "SELECT zone, greptime_value FROM up ORDER BY greptime_value", "|1", "z|2");
    await machine.engine.dropTable("public", "up", false);
    await machine.engine.write("public", sender.batch([sample("up", { job: "a" }, 2, 3), sample("up", { job: "b" }, 2, 4)]), OPTIONS);
    await check(machine, "SELECT job, greptime_value FROM up ORDER BY job", "a|3", "b|4");
  });
});
