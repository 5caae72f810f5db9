/**
 * Which series there are, without their samples: of each series one row is looked at, and of that its time alone.
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import type { PacedWork } from "../../../base/scheduler/pace.ts";
import type { Catalog, Table } from "../../../table/catalog.ts";
import type { TagPredicate } from "../../../table/scan.ts";
import { isInternalColumn, isPhysicalTable, physicalTableOf } from "../../../table/metric.ts";
import { scanInTurns } from "../../../table/scan-in-turns.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { SeriesView } from "../../../table/series-view.ts";
import type { EvaluationRun, Labels, SelectorRead } from "../evaluation/series-source.ts";
import { mayHaveEqualSeries } from "./equal-series.ts";
import { labelColumnsOf, METRIC_NAME, sampleColumnsOf } from "./metric-columns.ts";
import { readingsOf, type SeriesReading } from "./series-reading.ts";
import { selectTables } from "./table-selection.ts";
import { rangeOfMillis } from "./time-range.ts";

/** Codes of values that there is room for at first. */
const FIRST_CODES = 1024;

/** What reads go by: turns, and memory, counted before it is taken. */
export type IndexWork = PacedWork & Pick<EvaluationRun, "reserve" | "release">;

/** A time range; milliseconds, both inclusive. */
export type MillisRange = Pick<SelectorRead, "firstMillis" | "lastMillis">;

/**
 * Series that meet all matchers and have a row in the range, each once a column: of tables with tags that are "", two may have the same
 * labels.
 *
 * @throws DbError InvalidArguments, those of scans
 */
export async function* seriesMeeting(read: SelectorRead, catalog: Catalog, database: string, work: IndexWork): AsyncGenerator<Labels> {
  for (const { table, predicates, labels, numbers } of readingsMeeting(read, catalog, database)) {
    for await (const found of seriesNumbers(table, predicates, read, work, { numbers })) {
      for (const number of found) {
        const own = labels.of(number);
        if (own !== undefined) yield own;
      }
    }
  }
}

/** Whether several series that meet the matchers may have the same labels. @throws DbError InvalidArguments */
export function mayRepeatLabels(matchers: SelectorRead["matchers"], catalog: Catalog, database: string): boolean {
  return selectTables(matchers, catalog, database).some(({ table }) => mayHaveEqualSeries(table));
}

/** Names of metrics with a series that meets all matchers and has a row in the range, by source. @throws DbError as `seriesMeeting` */
export function* metricsMeeting(read: SelectorRead, catalog: Catalog, database: string, work: IndexWork): Generator<TextSource> {
  for (const reading of readingsMeeting({ ...read, labels: new Set() }, catalog, database)) yield namesIn(reading, read, work);
}

/** Texts, some at a time; none comes twice. */
type TextSource = AsyncGenerator<readonly string[]>;

async function* namesIn({ table, predicates, labels, numbers }: SeriesReading, range: MillisRange, work: IndexWork): TextSource {
  const names = new Set<string>();
  const limit = isPhysicalTable(table.schema) ? undefined : 1;
  for await (const found of seriesNumbers(table, predicates, range, work, { numbers, limit })) {
    for (const number of found) {
      const name = labels.of(number)?.find(([label]) => label === METRIC_NAME)?.[1];
      if (name !== undefined) names.add(name);
    }
    if (limit !== undefined && names.size > 0) break;
  }
  yield [...names];
}

function readingsMeeting(read: SelectorRead, catalog: Catalog, database: string): Iterable<SeriesReading> {
  return readingsOf(selectTables(read.matchers, catalog, database), catalog, read.labels);
}

/** Values of a label in the range, of all metrics, by source. @throws DbError those of scans */
export function* labelValuesOf(
  label: string,
  range: MillisRange,
  catalog: Catalog,
  database: string,
  work: IndexWork,
): Generator<TextSource> {
  for (const table of carriersOf(catalog, database)) {
    if (tagsOf(table).includes(label)) yield valuesIn({ table, predicates: [], numbers: table.series }, label, range, work);
  }
}

/** Values that a label has in series that meet all matchers and have a row in the range, by source. @throws DbError those of scans */
export function* labelValuesMeeting(
  label: string,
  read: SelectorRead,
  catalog: Catalog,
  database: string,
  work: IndexWork,
): Generator<TextSource> {
  for (const reading of readingsMeeting(read, catalog, database)) {
    if (tagsOf(reading.table).includes(label)) yield valuesIn(reading, label, read, work);
  }
}

async function* valuesIn(
  { table, predicates, numbers: view }: Pick<SeriesReading, "table" | "predicates" | "numbers">,
  label: string,
  range: MillisRange,
  work: IndexWork,
): TextSource {
  /** By code. */
  let seen = new Uint8Array(FIRST_CODES);
  for await (const numbers of seriesNumbers(table, predicates, range, work, { numbers: view })) {
    const codes = view.codesOf(label);
    const values: string[] = [];
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      const code = codes[number] as number;
      if (code >= seen.length) seen = grownTo(seen, code + 1);
      if (code === 0 || seen[code] === 1) continue;
      seen[code] = 1;
      const value = view.tagOf(label, number);
      if (value !== undefined && value !== "") values.push(value);
    }
    yield values;
  }
}

function grownTo(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(Math.max(length, 2 * bytes.length));
  grown.set(bytes);
  return grown;
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
  work: IndexWork,
  { numbers, limit }: { readonly numbers: SeriesView; readonly limit?: number | undefined },
): AsyncGenerator<Uint32Array> {
  const { type } = timeIndexOf(table.schema);
  const timeRange = rangeOfMillis(firstMillis, lastMillis, type.kind === "timestamp" ? type.unit : "nanosecond");
  if (timeRange.start >= timeRange.end) return;
  const request = { projection: [], timeRange, tagPredicates, fieldBounds: [], order: "none", newestPerSeries: true } as const;
  const { signal, pace } = work;
  const limited = { ...request, signal, numbers, ...(limit === undefined ? {} : { limit }) };
  for await (const { rowCount, runs } of scanInTurns(table, limited, work)) {
    throwIfCancelled(signal);
    let count = 0;
    while (count + 1 < runs.starts.length && (runs.starts[count] as number) < rowCount) count++;
    yield runs.series.subarray(0, count);
    await pace.turn();
  }
}
