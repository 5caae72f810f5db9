/**
 * A scan of several parts of a table as one. All parts begin at once, so that their snapshots are of one moment; then they are read one
 * after the other, or, in the order of series and time, as the next series comes from one or another.
 */
import { Turns } from "../../base/scheduler/turns.ts";
import type { Vector } from "../../column/vector.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { RowTest, ScanBatch, ScanMetrics, ScanRequest } from "../../table/scan.ts";
import { type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { type JoinedSeries, ScannedTags, seriesOrder } from "./joined-series.ts";
import { mergedRuns } from "./merged-runs.ts";
import { Reader } from "./reader.ts";

/** Compares joined series as parts have them in an order, once all have begun: 0 only for one and the same; undefined: by tags. */
export type CompareIn = (order: ScanRequest["order"], series: JoinedSeries) => ((a: number, b: number) => number) | undefined;

/** What parts are joined to. */
interface Joined {
  readonly schema: TableSchema;
  readonly series: JoinedSeries;
  readonly compareIn: CompareIn | undefined;
}

/** Rows of all parts under joined numbers. @throws as the parts' scans do */
export async function* joinedScan(
  parts: readonly ScannedTable[],
  { schema, series, compareIn }: Joined,
  request: ScanRequest,
  metrics?: ScanMetrics,
): AsyncGenerator<ScanBatch> {
  const asked = requestOfParts(request, schema, series.repeats, compareIn !== undefined);
  const scans = parts.map((part, i) => part.scan({ ...asked, numbers: series.parts[i] as SeriesView }, metrics)[Symbol.asyncIterator]());
  try {
    const begun = scans.map((batches, part) => Reader.begun(batches, part));
    await Promise.allSettled(begun); // Whichever fails: no other is left behind.
    const readers = await Promise.all(begun);
    const order = {
      compare: compareIn?.(request.order, series) ?? seriesOrder(schema, series),
      timePlace: asked.projection.indexOf(timeIndexOf(schema).name),
      newestOnly: request.newestPerSeries === true && series.repeats,
    };
    const tags = tagsOfScan(schema, request.projection);
    let rows = 0;
    for await (const { part, batch } of asked.order === "none" ? oneByOne(readers) : mergedRuns(readers, series, order)) {
      yield joinedBatch(batch, part, series, tags);
      rows += batch.rowCount;
      if (request.limit !== undefined && rows >= request.limit) return;
    }
  } finally {
    for (const scan of scans) await scan.return?.();
  }
}

/**
 * What each part is asked. Of a series in several parts the newest row is known once all have given theirs: what leaves rows out, and may
 * leave out the newest of one part, comes after that.
 */
function requestOfParts(request: ScanRequest, schema: TableSchema, repeats: boolean, isOrdered: boolean): ScanRequest {
  const order = request.order === "listed" && !isOrdered ? "series-time" : request.order; // Those of parts may be listed in other ways.
  const asked = { ...request, order, rowTests: testsInTurns(request.rowTests) };
  if (!repeats || (request.order === "none" && request.newestPerSeries !== true)) return asked;
  const time = timeIndexOf(schema).name;
  const projection = request.projection.includes(time) ? request.projection : [...request.projection, time];
  if (request.newestPerSeries !== true) return { ...asked, projection };
  const { limit: _, fieldConditions: __, rowTests: ___, ...rest } = asked;
  return { ...rest, projection, order: "series-time", fieldBounds: [] };
}

/** Parts test rows beside each other until each has its first batch, and what a test answers is valid until its next call. */
function testsInTurns(tests: readonly RowTest[] | undefined): readonly RowTest[] | undefined {
  const turns = new Turns();
  return tests?.map((test) => ({
    columns: test.columns,
    bound: () => test.bound?.(),
    select: (batch) => turns.alone(async () => (await test.select(batch))?.slice()),
  }));
}

async function* oneByOne(readers: readonly Reader[]): AsyncGenerator<{ readonly part: number; readonly batch: ScanBatch }> {
  for (const reader of readers) {
    for (; reader.batch !== undefined; await reader.passTo(reader.batch.rowCount)) yield { part: reader.part, batch: reader.batch };
  }
}

/** Values of tags by their places in a projection; undefined for other columns. */
function tagsOfScan({ columns }: TableSchema, projection: readonly string[]): readonly (ScannedTags | undefined)[] {
  const tags = new Map(columns.flatMap(({ name, semantic }) => (semantic === "tag" ? [[name, new ScannedTags()] as const] : [])));
  return projection.map((name) => tags.get(name));
}

/** @param tags a place for each vector that was asked for; those behind them are left out */
function joinedBatch(batch: ScanBatch, part: number, series: JoinedSeries, tags: readonly (ScannedTags | undefined)[]): ScanBatch {
  const { rowCount, runs } = batch;
  const vectors = batch.vectors.slice(0, tags.length).map((vector, place): Vector => {
    const values = tags[place];
    return values === undefined || vector.kind !== "dictionary" ? vector : values.joined(vector, rowCount);
  });
  const runCount = Math.max(0, runs.starts.length - 1);
  return { ...batch, vectors, runs: { starts: runs.starts, series: series.joinedOf(part, runs.series, runCount) } };
}
