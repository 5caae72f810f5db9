/**
 * Which series there are, without their samples: of each series one row is looked at, and of that its time alone.
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import type { PacedWork } from "../../../base/scheduler/pace.ts";
import type { Catalog, Table } from "../../../table/catalog.ts";
import type { TagPredicate } from "../../../table/scan.ts";
import { isInternalColumn, physicalTableOf } from "../../../table/metric.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { Labels, SelectorRead } from "../evaluation/series-source.ts";
import { labelColumnsOf, METRIC_NAME, sampleColumnsOf } from "./metric-columns.ts";
import { SeriesLabels } from "./series-labels.ts";
import { selectTables, type TableSelection } from "./table-selection.ts";
import { rangeOfMillis } from "./time-range.ts";

/** A time range; milliseconds, both inclusive. */
export type MillisRange = Pick<SelectorRead, "firstMillis" | "lastMillis">;

/** Series that meet all matchers and have a row in the range, each once a column. @throws DbError InvalidArguments, those of scans */
export async function* seriesMeeting(read: SelectorRead, catalog: Catalog, database: string, work: PacedWork): AsyncGenerator<Labels> {
  for (const selection of selectTables(read.matchers, catalog, database)) {
    const { table, predicates, showsField, columns } = selection;
    const view = table.series;
    const labels = columns.map(({ name }) => new SeriesLabels(selection, view, showsField ? name : undefined));
    for await (const numbers of seriesNumbers(table, predicates, read, work)) {
      for (const number of numbers) for (const each of labels) yield each.of(number);
    }
  }
}

/** Names of metrics with a series that meets all matchers and has a row in the range. @throws DbError as `seriesMeeting` */
export async function* metricsMeeting(read: SelectorRead, catalog: Catalog, database: string, work: PacedWork): AsyncGenerator<string> {
  for (const selection of selectTables(read.matchers, catalog, database)) {
    if (await hasSeries(selection, read, work)) yield selection.table.schema.name;
  }
}

async function hasSeries({ table, predicates }: TableSelection, range: MillisRange, work: PacedWork): Promise<boolean> {
  for await (const numbers of seriesNumbers(table, predicates, range, work, 1)) if (numbers.length > 0) return true;
  return false;
}

/** Values of a label in the range, of all metrics; one may come several times. @throws DbError those of scans */
export async function* labelValuesOf(
  label: string,
  range: MillisRange,
  catalog: Catalog,
  database: string,
  work: PacedWork,
): AsyncGenerator<string> {
  for (const table of carriersOf(catalog, database)) {
    if (!tagsOf(table).includes(label)) continue;
    const view = table.series;
    const seen = new Set<number>();
    for await (const numbers of seriesNumbers(table, [], range, work)) {
      const codes = view.codesOf(label);
      for (const number of numbers) {
        const code = codes[number] as number;
        if (code === 0 || seen.has(code)) continue;
        seen.add(code);
        const value = view.tagOf(label, number);
        if (value !== undefined && value !== "") yield value;
      }
    }
  }
}

/** Names of labels of all metrics, from their schemas alone; sorted. */
export function labelNamesOf(catalog: Catalog, database: string): readonly string[] {
  const names = new Set<string>([METRIC_NAME]);
  for (const { schema } of metricTables(catalog, database)) for (const name of labelColumnsOf(schema)) names.add(name);
  return [...names].sort();
}

/** The tables that are metrics. */
export function metricTables(catalog: Catalog, database: string): readonly Table[] {
  if (catalog.database(database) === undefined) return [];
  return catalog.tables(database).filter(({ schema }) => sampleColumnsOf(schema).length > 0);
}

/** Those that have the series of all metrics: a physical table has those of the logical ones that lie on it. */
export function carriersOf(catalog: Catalog, database: string): readonly Table[] {
  const metrics = metricTables(catalog, database);
  const physical = new Set(metrics.map(({ schema }) => physicalTableOf(schema)));
  const isPlain = ({ schema }: Table): boolean => physicalTableOf(schema) === undefined;
  const carried = [...physical].map((name) => (name === undefined ? undefined : catalog.table(database, name)));
  return [...metrics.filter(isPlain), ...carried.filter((table) => table !== undefined)];
}

/** Names of the labels that the series of a table have. */
export function tagsOf({ schema }: Table): readonly string[] {
  return labelColumnsOf(schema).filter((name) => !isInternalColumn(schema, name));
}

/** Numbers of series with a row in the range, each once, a batch at a time. */
async function* seriesNumbers(
  table: Table,
  tagPredicates: readonly TagPredicate[],
  { firstMillis, lastMillis }: MillisRange,
  { signal, pace }: PacedWork,
  limit?: number,
): AsyncGenerator<Uint32Array> {
  const { type } = timeIndexOf(table.schema);
  const timeRange = rangeOfMillis(firstMillis, lastMillis, type.kind === "timestamp" ? type.unit : "nanosecond");
  if (timeRange.start >= timeRange.end) return;
  const request = { projection: [], timeRange, tagPredicates, fieldBounds: [], order: "none", newestPerSeries: true } as const;
  const numbers = table.series;
  for await (const { rowCount, runs } of table.scan({ ...request, signal, numbers, ...(limit === undefined ? {} : { limit }) })) {
    throwIfCancelled(signal);
    let count = 0;
    while (count + 1 < runs.starts.length && (runs.starts[count] as number) < rowCount) count++;
    yield runs.series.subarray(0, count);
    await pace.turn();
  }
}
