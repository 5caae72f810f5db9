/**
 * A scan of several parts of a table as one. All parts begin at once, so that their snapshots are of one moment; then they are read one
 * after the other, or, in the order of series and time, as the next series comes from one or another.
 */
import { Turns } from "../../base/scheduler/turns.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import { sliceBatch } from "../../column/slice.ts";
import type { Vector } from "../../column/vector.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { RowTest, ScanBatch, ScanMetrics, ScanRequest } from "../../table/scan.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { TableSchema } from "../../table/schema.ts";
import { type JoinedSeries, seriesOrder } from "./joined-series.ts";

type Batches = AsyncIterator<ScanBatch>;

/** A part's scan, and the batch that it gave last. */
interface Reader {
  readonly batches: Batches;
  readonly part: number;
  /** Undefined once there is no more. */
  batch: ScanBatch | undefined;
  /** Run of it that comes next. */
  run: number;
}

/** Rows of all parts under joined numbers. @throws as the parts' scans do */
export async function* joinedScan(
  parts: readonly ScannedTable[],
  { schema, series }: { readonly schema: TableSchema; readonly series: JoinedSeries },
  request: ScanRequest,
  metrics?: ScanMetrics,
): AsyncGenerator<ScanBatch> {
  const alone = { ...request, rowTests: testsInTurns(request.rowTests) };
  const scans = parts.map(
    (part, i): Batches => part.scan({ ...alone, numbers: series.parts[i] as SeriesView }, metrics)[Symbol.asyncIterator](),
  );
  try {
    const begun = scans.map(async (batches, part): Promise<Reader> => ({ batches, part, ...(await nextOf(batches)) }));
    await Promise.allSettled(begun); // Whichever fails: no other is left behind.
    const readers = await Promise.all(begun);
    const tags = tagPlaces(schema, request.projection);
    const joined = (reader: Reader, batch: ScanBatch): ScanBatch => joinedBatch(batch, reader.part, series, tags);
    let rows = 0;
    for await (const batch of request.order === "none"
      ? oneByOne(readers, joined)
      : merged(readers, seriesOrder(schema, series), series, joined)) {
      yield batch;
      rows += batch.rowCount;
      if (request.limit !== undefined && rows >= request.limit) return;
    }
  } finally {
    for (const scan of scans) await scan.return?.();
  }
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

async function nextOf(batches: Batches): Promise<Pick<Reader, "batch" | "run">> {
  for (;;) {
    const next = await batches.next();
    if (next.done === true) return { batch: undefined, run: 0 };
    if (next.value.rowCount > 0) return { batch: next.value, run: 0 }; // One without rows has no series to be merged by.
  }
}

type Joined = (reader: Reader, batch: ScanBatch) => ScanBatch;

async function* oneByOne(readers: readonly Reader[], joined: Joined): AsyncGenerator<ScanBatch> {
  for (const reader of readers) {
    for (; reader.batch !== undefined; Object.assign(reader, await nextOf(reader.batches))) yield joined(reader, reader.batch);
  }
}

/** Runs of all parts in the order of their series. */
async function* merged(
  readers: readonly Reader[],
  compare: (a: number, b: number) => number,
  series: JoinedSeries,
  joined: Joined,
): AsyncGenerator<ScanBatch> {
  const headOf = ({ batch, part, run }: Reader): number =>
    series.joinedOf(part, (batch as ScanBatch).runs.series.subarray(run), 1)[0] as number;
  for (;;) {
    const [first, ...others] = readers
      .filter(({ batch }) => batch !== undefined)
      .map((reader) => ({ reader, head: headOf(reader) }))
      .sort((a, b) => compare(a.head, b.head));
    if (first === undefined) return;
    const { reader } = first;
    const batch = reader.batch as ScanBatch;
    const { starts, series: numbers } = batch.runs;
    const runCount = starts.length - 1;
    const own = series.joinedOf(reader.part, numbers, runCount);
    const bound = others[0]?.head;
    let end = reader.run + 1;
    while (end < runCount && (bound === undefined || compare(own[end] as number, bound) < 0)) end++;
    yield joined(reader, sliceRuns(batch, reader.run, end));
    if (end < runCount) reader.run = end;
    else Object.assign(reader, await nextOf(reader.batches));
  }
}

/** Runs `[from, to)` of a batch, with their rows. */
function sliceRuns(batch: ScanBatch, from: number, to: number): ScanBatch {
  const { starts, series } = batch.runs;
  const first = starts[from] as number;
  const runs: SeriesRuns = {
    starts: starts.subarray(from, to + 1).map((start) => start - first),
    series: series.subarray(from, to),
  };
  return { ...batch, ...sliceBatch(batch, first, starts[to] as number), runs };
}

/** Names of tags by their places in a projection. */
function tagPlaces({ columns }: TableSchema, projection: readonly string[]): readonly (string | undefined)[] {
  const tags = new Set(columns.flatMap(({ name, semantic }) => (semantic === "tag" ? [name] : [])));
  return projection.map((name) => (tags.has(name) ? name : undefined));
}

function joinedBatch(batch: ScanBatch, part: number, series: JoinedSeries, tags: readonly (string | undefined)[]): ScanBatch {
  const { rowCount, runs } = batch;
  const vectors = batch.vectors.map((vector, place): Vector => {
    const name = tags[place];
    return name === undefined || vector.kind !== "dictionary" ? vector : series.joinedTags(name, vector, rowCount);
  });
  return {
    ...batch,
    vectors,
    runs: { starts: runs.starts, series: series.joinedOf(part, runs.series, Math.max(0, runs.starts.length - 1)) },
  };
}
