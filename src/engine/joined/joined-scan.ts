/**
 * A scan of several parts of a table as one. All parts begin at once, so that their snapshots are of one moment; then they are read one
 * after the other, or, in the order of series and time, as the next series comes from one or another.
 */
import { Turns } from "../../base/scheduler/turns.ts";
import type { Vector } from "../../column/vector.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { columnNamed } from "../../table/not-found.ts";
import type { RowTest, ScanBatch, ScanMetrics, ScanRequest } from "../../table/scan.ts";
import { type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { GatheredRows } from "./gathered-rows.ts";
import { type JoinedSeries, ScannedTags } from "./joined-series.ts";
import { MergedRuns, orderByTags, type SeriesOrder } from "./merged-runs.ts";
import { Reader } from "./reader.ts";

/** How parts order their series in an order that scans may ask for, once all have begun; undefined: by tags. */
export type OrderIn = (order: ScanRequest["order"], series: JoinedSeries) => SeriesOrder<unknown> | undefined;

/** What is read, under joined numbers. */
export interface JoinedRows {
  readonly schema: TableSchema;
  readonly series: JoinedSeries;
  /** Where parts have an order of their own. */
  readonly orderIn?: OrderIn | undefined;
}

/** One of several tables. */
export interface JoinedPart {
  readonly table: Pick<ScannedTable, "scan">;
  /** Its place among the parts of the series. */
  readonly part: number;
}

/** Rows of all parts under joined numbers. @throws as the parts' scans do */
export async function* joinedScan(
  parts: readonly JoinedPart[],
  rows: JoinedRows,
  request: ScanRequest,
  metrics?: ScanMetrics,
): AsyncGenerator<ScanBatch> {
  const { series } = rows;
  const asked = requestOfParts(request, rows, parts.length > 1);
  const scans = parts.map(({ table, part }) =>
    table.scan({ ...asked, numbers: series.parts[part] as SeriesView }, metrics)[Symbol.asyncIterator](),
  );
  try {
    const begun = scans.map((batches, i) => Reader.begun(batches, (parts[i] as JoinedPart).part));
    await Promise.allSettled(begun); // Whichever fails: no other is left behind.
    const readers = await Promise.all(begun);
    const { limit = Number.POSITIVE_INFINITY } = request;
    let count = 0;
    for await (const batch of readers.length === 1 || asked.order === "none"
      ? oneByOne(readers, rows, request.projection)
      : inOrder(readers, rows, request, asked)) {
      yield batch;
      count += batch.rowCount;
      if (count >= limit) return;
    }
  } finally {
    for (const scan of scans) await scan.return?.();
  }
}

/**
 * What each part is asked. Of a series in several parts the newest row is known once all have given theirs: what leaves rows out, and may
 * leave out the newest of one part, comes after that.
 */
function requestOfParts(request: ScanRequest, { schema, series, orderIn }: JoinedRows, areSeveral: boolean): ScanRequest {
  const order = orderOfParts(request.order, orderIn);
  const asked: ScanRequest = { ...request, order, rowTests: testsInTurns(request.rowTests) };
  if (!series.repeats || !areSeveral || (request.order === "none" && request.newestPerSeries !== true)) return asked;
  const time = timeIndexOf(schema).name;
  const projection = request.projection.includes(time) ? request.projection : [...request.projection, time];
  if (request.newestPerSeries !== true) return { ...asked, projection };
  const { limit: _, fieldConditions: __, rowTests: ___, ...rest } = asked;
  return { ...rest, projection, order: "series-time", fieldBounds: [] };
}

/** The order that parts are asked for. Without one of their own they may be listed in other ways than by tags. */
export function orderOfParts(order: ScanRequest["order"], orderIn: OrderIn | undefined): ScanRequest["order"] {
  return order === "listed" && orderIn === undefined ? "series-time" : order;
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

async function* oneByOne(
  readers: readonly Reader[],
  { schema, series }: JoinedRows,
  projection: readonly string[],
): AsyncGenerator<ScanBatch> {
  const tags = tagsOfScan(schema, projection);
  for (const reader of readers) {
    for (; reader.batch !== undefined; await reader.goOn()) yield joinedBatch(reader.batch, reader.part, series, tags);
  }
}

/** @param asked what the parts were asked, whose batches have its columns; those of `request` come first */
async function* inOrder(
  readers: readonly Reader[],
  { schema, series, orderIn }: JoinedRows,
  request: ScanRequest,
  asked: ScanRequest,
): AsyncGenerator<ScanBatch> {
  const merged = new MergedRuns(readers, series, {
    order: orderIn?.(request.order, series) ?? orderByTags(schema, series),
    timePlace: asked.projection.indexOf(timeIndexOf(schema).name),
    newestOnly: request.newestPerSeries === true && series.repeats && readers.length > 1,
  });
  const types = request.projection.map((name) => columnNamed(schema, name).type);
  yield* gatheredRows(merged, new GatheredRows(series, types));
}

/** Merged rows in batches of some size. @throws as the parts' scans do */
export async function* gatheredRows(merged: MergedRuns, gathered: GatheredRows): AsyncGenerator<ScanBatch> {
  for (let rows = merged.next(); rows !== undefined; rows = merged.next()) {
    if (gathered.isFull(rows)) yield* gathered.taken();
    gathered.add(rows);
    if (merged.isAtEnd || gathered.isFull()) yield* gathered.taken();
    if (merged.isAtEnd) await merged.goOn();
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
    if (values === undefined || vector.kind !== "dictionary") return vector;
    const codes = new Uint32Array(rowCount);
    values.code(vector, 0, rowCount, codes);
    return { kind: "dictionary", codes, dictionary: values.dictionary };
  });
  return { ...batch, vectors, runs: series.joinedRuns(runs, part) };
}

/** Rows of one part under joined numbers. @throws as its scan does */
export async function* scanOfPart(
  batches: AsyncIterable<ScanBatch>,
  part: number,
  { schema, series }: JoinedRows,
  projection: readonly string[],
): AsyncGenerator<ScanBatch> {
  const tags = tagsOfScan(schema, projection);
  for await (const batch of batches) yield joinedBatch(batch, part, series, tags);
}
