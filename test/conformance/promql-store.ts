/** Series of scripts as tables of an engine, laid out in several ways: answers must not depend on where samples lie. */
import { type DataType, FLOAT64 } from "../../src/column/data-type.ts";
import type { Vector } from "../../src/column/vector.ts";
import type {
  EvaluationRun,
  NativeHistogram,
  SampledSeries,
  SelectorRead,
  SeriesSource,
} from "../../src/query/promql/evaluation/series-source.ts";
import { TableSource } from "../../src/query/promql/tables/table-source.ts";
import { DEFAULT_PHYSICAL_TABLE } from "../../src/table/metric.ts";
import { NATIVE_HISTOGRAM } from "../../src/table/native-histogram.ts";
import { SeriesDictionary } from "../../src/table/series-dictionary.ts";
import { Machine } from "../engine/machine.ts";
import { readCatalog } from "../support/cluster/remote-catalog.ts";
import { engineSql } from "../support/engine-sql.ts";
import { hintedAfter } from "../support/memory-series.ts";
import { keyOf } from "../support/metric-batch.ts";
import { histogramCell, staleCell } from "./promql-cells.ts";
import { customSeries } from "./promql-custom-buckets.ts";
import type { Load, Point } from "./promql-script.ts";

/** What a script loads into and is answered from. */
export interface ScriptStore extends SeriesSource {
  clear(): Promise<void> | void;
  /** The names of metrics that it could not take; the next loads leave them out too. */
  load(load: Load): Promise<readonly string[]>;
}

/**
 * Where the samples of each load lie:
 *
 *   memory     all in memory
 *   half       the earlier half in a file, the rest in memory
 *   files      every third one in a file of its own, so that all files span the same time
 *   merged     the same, merged to one file
 *   reopened   every other one in a file, the rest read back from the log by the next engine
 */
export const LAYOUTS = ["memory", "half", "files", "merged", "reopened"] as const;
/** One of them. */
export type Layout = (typeof LAYOUTS)[number];

const NO_LIMITS = { samplesMax: 0, seriesMax: 0 };

/** Samples of one metric are all numbers, or all histograms. */
type Kind = "number" | "histogram";

interface ScriptSample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly time: number;
  readonly point: Exclude<Point, undefined>;
  readonly startMillis: number | undefined;
}

/**
 * See the file header. One database a stretch between two clears. Numbers lie on a physical table, histograms in a table for each metric.
 * Tables cannot hold numbers beside histograms, nor when a number's counting began: such metrics are not taken.
 */
export class TableStore implements ScriptStore {
  private readonly machine: Machine;
  private readonly layout: Layout;
  private database = "";
  private databases = 0;
  private readonly kinds: Map<string, Kind | undefined> = new Map();

  private constructor(machine: Machine, layout: Layout) {
    this.machine = machine;
    this.layout = layout;
  }

  static async open(layout: Layout): Promise<TableStore> {
    const store = new TableStore(await Machine.start(), layout);
    await store.clear();
    return store;
  }

  async clear(): Promise<void> {
    this.database = `d${++this.databases}`;
    this.kinds.clear();
    await engineSql(this.machine.engine, `CREATE DATABASE ${this.database}`);
  }

  async load(load: Load): Promise<readonly string[]> {
    const all = samplesOf(load);
    for (const sample of all) this.learn(sample);
    const taken = all.filter(({ metric }) => this.kinds.get(metric) !== undefined);
    if (taken.length > 0) await this.put(taken, load.stepMillis);
    return [...this.kinds].filter(([, kind]) => kind === undefined).map(([name]) => name);
  }

  /** What a metric is of; a stale marker says nothing of it. */
  private learn({ metric, point, startMillis }: ScriptSample): void {
    if (point === "stale") return;
    const kind: Kind = typeof point === "object" ? "histogram" : "number";
    const known = this.kinds.has(metric) ? this.kinds.get(metric) : kind;
    this.kinds.set(metric, known !== kind || (kind === "number" && startMillis !== undefined) ? undefined : kind);
  }

  private async put(samples: readonly ScriptSample[], stepMillis: number): Promise<void> {
    const end = Math.max(...samples.map(({ time }) => time));
    const part = (modulus: number, which: number) => samples.filter(({ time }, index) => (index + time / stepMillis) % modulus === which);
    switch (this.layout) {
      case "memory":
        return this.write(samples);
      case "half":
        await this.write(samples.filter(({ time }) => time <= end / 2));
        await this.eachTable((table) => this.machine.engine.flushTable(this.database, table));
        return this.write(samples.filter(({ time }) => time > end / 2));
      case "files":
      case "merged":
        for (const which of [0, 1, 2]) {
          await this.write(part(3, which));
          await this.eachTable((table) => this.machine.engine.flushTable(this.database, table));
        }
        if (this.layout === "merged") await this.eachTable((table) => this.machine.engine.compactTable(this.database, table));
        return;
      case "reopened":
        await this.write(part(2, 0));
        await this.eachTable((table) => this.machine.engine.flushTable(this.database, table));
        await this.write(part(2, 1));
        await this.machine.restart();
    }
  }

  async *select(read: SelectorRead, run: EvaluationRun): AsyncGenerator<Iterable<SampledSeries>> {
    yield* new TableSource(readCatalog(this.machine.engine), this.database, NO_LIMITS).select(read, run);
  }

  private async eachTable(work: (table: string) => Promise<unknown>): Promise<void> {
    const histograms = [...this.kinds].filter(([, kind]) => kind === "histogram").map(([name]) => name);
    for (const table of [DEFAULT_PHYSICAL_TABLE, ...histograms])
      if (this.machine.engine.table(this.database, table) !== undefined) await work(table);
  }

  private async write(samples: readonly ScriptSample[]): Promise<void> {
    const numbers = samples.filter(({ metric }) => this.kinds.get(metric) === "number");
    if (numbers.length > 0) await this.writeTable(DEFAULT_PHYSICAL_TABLE, numbers, FLOAT64, numbersOf(numbers));
    for (const name of new Set(samples.map(({ metric }) => metric))) {
      if (this.kinds.get(name) !== "histogram") continue;
      const cells = samples.filter(({ metric }) => metric === name);
      await this.writeTable(name, cells, NATIVE_HISTOGRAM, cellsOf(cells));
    }
  }

  private async writeTable(table: string, samples: readonly ScriptSample[], type: DataType, vector: Vector): Promise<void> {
    const dictionary = new SeriesDictionary();
    const isPhysical = table === DEFAULT_PHYSICAL_TABLE;
    const keys = Uint32Array.from(samples, (sample) => keyOf(sample, dictionary));
    const offsets = Float64Array.from(samples, ({ time }) => time);
    const write = {
      table,
      ...(isPhysical ? { tablesOfKeys: true as const } : {}),
      rowCount: samples.length,
      keys,
      timeUnit: "millisecond" as const,
      times: { kind: "time" as const, base: 0n, offsets, validity: undefined },
      fields: [{ name: isPhysical ? "greptime_value" : "greptime_native_histogram", type, vector }],
    };
    const options = { autoCreate: true, tableOptions: {}, ...(isPhysical ? { physicalTable: table } : {}) };
    await this.machine.engine.write(this.database, { dictionary, tables: [write] }, options);
  }
}

/** A script may tell a series twice: the last one counts, wherever the parts lie. */
function samplesOf({ series, stepMillis, withBuckets }: Load): readonly ScriptSample[] {
  const samples = new Map<string, ScriptSample>();
  for (const { labels, points, starts } of [...series, ...(withBuckets ? customSeries(series) : [])]) {
    const { __name__: metric = "", ...rest } = Object.fromEntries(labels);
    const told = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ""));
    let before: NativeHistogram | undefined;
    for (const [index, each] of points.entries()) {
      if (each === undefined) continue;
      const previous = before;
      before = typeof each === "object" ? each.histogram : undefined;
      const point = typeof each === "object" ? { ...each, histogram: hintedAfter(each.histogram, previous) } : each;
      const time = index * stepMillis;
      const start = starts?.[index];
      const startMillis = start === undefined ? undefined : time + start;
      samples.set(JSON.stringify([metric, told, time]), { metric, labels: told, time, point, startMillis });
    }
  }
  return [...samples.values()];
}

/** Stale markers as bits: a number would lose them. */
function numbersOf(samples: readonly ScriptSample[]): Vector {
  const values = Float64Array.from(samples, ({ point }) => (typeof point === "number" ? point : 0));
  const words = new Uint32Array(values.buffer);
  for (const [row, { point }] of samples.entries()) if (point === "stale") words.set([2, 0x7ff00000], 2 * row);
  return { kind: "number", values, validity: undefined };
}

function cellsOf(samples: readonly ScriptSample[]): Vector {
  const cells = samples.map(({ point, startMillis }) =>
    typeof point === "object" ? histogramCell(point.histogram, startMillis) : staleCell(),
  );
  const offsets = new Uint32Array(cells.length + 1);
  for (const [row, cell] of cells.entries()) offsets[row + 1] = (offsets[row] ?? 0) + cell.length;
  return { kind: "bytes", offsets, bytes: Buffer.concat(cells), validity: undefined };
}
