/** How many series, labels and values the metrics of a database have: what Prometheus tells of its store. */
import type { PacedWork } from "../../base/scheduler/pace.ts";
import { UNITS_PER_SECOND } from "../../column/data-type.ts";
import { carriersOf, metricTables, tagsOf } from "../../query/promql/tables/series-index.ts";
import { floorDivide } from "../../value/civil.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { timeIndexOf } from "../../table/schema.ts";

/** A name and how many. */
export interface Figure {
  readonly name: string;
  readonly value: number;
}

/** Counted over series known now: those of files that nobody has read since the start may be missing. */
export interface StoreFigures {
  readonly seriesCount: number;
  /** Pairs of a label and a value. */
  readonly labelPairCount: number;
  /** Milliseconds since the epoch; undefined: there are no rows. */
  readonly minMillis: number | undefined;
  readonly maxMillis: number | undefined;
  /** The largest, the largest first. */
  readonly seriesByMetric: readonly Figure[];
  readonly valuesByLabel: readonly Figure[];
  /** Bytes of the distinct values. */
  readonly bytesByLabel: readonly Figure[];
  /** `label=value`. */
  readonly seriesByPair: readonly Figure[];
}

/** Series, or values, that are looked at between two looks at the clock. */
const STEP = 4096;

/** Counts. @param most figures of each kind at most */
export async function figuresOf(catalog: Catalog, database: string, most: number, work: PacedWork): Promise<StoreFigures> {
  const metrics = metricTables(catalog, database);
  const carriers = carriersOf(catalog, database);
  const values = new Map<string, number>();
  const bytes = new Map<string, number>();
  const pairs: Figure[] = [];
  for (const table of new Set([...metrics, ...carriers])) await table.refreshed?.("figures");
  for (const table of carriers) {
    const series = await knownSeries(table, work);
    for (const label of tagsOf(table)) {
      const counted = await countLabel(series, label, most, work);
      values.set(label, (values.get(label) ?? 0) + counted.values);
      bytes.set(label, (bytes.get(label) ?? 0) + counted.bytes);
      pairs.push(...counted.largest);
    }
  }
  const spans = carriers.map(spanOf).filter((span) => span !== undefined);
  return {
    seriesCount: carriers.reduce((sum, table) => sum + table.statistics().seriesCount, 0),
    labelPairCount: [...values.values()].reduce((sum, count) => sum + count, 0),
    minMillis: spans.length === 0 ? undefined : Math.min(...spans.map(({ min }) => min)),
    maxMillis: spans.length === 0 ? undefined : Math.max(...spans.map(({ max }) => max)),
    seriesByMetric: largest(
      metrics.map((table) => ({ name: table.schema.name, value: table.statistics().seriesCount })),
      most,
    ),
    valuesByLabel: largest(figures(values), most),
    bytesByLabel: largest(figures(bytes), most),
    seriesByPair: largest(pairs, most),
  };
}

function figures(counts: ReadonlyMap<string, number>): readonly Figure[] {
  return [...counts].map(([name, value]) => ({ name, value }));
}

function largest(all: readonly Figure[], most: number): readonly Figure[] {
  return all.toSorted((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1)).slice(0, most);
}

/** The series of a table; of one whose rows are elsewhere those are learnt first. */
async function knownSeries(table: Table, { pace }: PacedWork): Promise<SeriesView> {
  const numbers = table.series;
  if (table.refreshed === undefined) return numbers;
  const request = {
    projection: [],
    timeRange: ALL_TIME,
    tagPredicates: [],
    fieldBounds: [],
    order: "none",
    newestPerSeries: true,
  } as const;
  for await (const _ of table.scan({ ...request, numbers })) await pace.turn();
  return numbers;
}

async function countLabel(
  view: SeriesView,
  label: string,
  most: number,
  { pace }: PacedWork,
): Promise<{ readonly values: number; readonly bytes: number; readonly largest: readonly Figure[] }> {
  const { count } = view;
  /** By code: how many series have it, and one of them. */
  const found = new Map<number, { series: number; count: number }>();
  for (let series = 0; series < count; series++) {
    if (series % STEP === 0) await pace.turn();
    const code = view.codesOf(label)[series] as number;
    const known = found.get(code);
    if (known !== undefined) known.count++;
    else if (code !== 0) found.set(code, { series, count: 1 });
  }
  let bytes = 0;
  let looked = 0;
  for (const { series } of found.values()) {
    if (looked++ % STEP === 0) await pace.turn();
    bytes += Buffer.byteLength(view.tagOf(label, series) ?? "");
  }
  const top = [...found.values()].sort((a, b) => b.count - a.count).slice(0, most);
  return {
    values: found.size,
    bytes,
    largest: top.map((each) => ({ name: `${label}=${view.tagOf(label, each.series) ?? ""}`, value: each.count })),
  };
}

function spanOf(table: Table): { readonly min: number; readonly max: number } | undefined {
  const bounds = table.timeBounds();
  const { type } = timeIndexOf(table.schema);
  if (bounds === undefined || type.kind !== "timestamp") return undefined;
  const units = BigInt(UNITS_PER_SECOND[type.unit]);
  const millis = (time: bigint): number => Number(floorDivide(time * 1000n, units));
  return { min: millis(bounds.start), max: millis(bounds.end - 1n) };
}
