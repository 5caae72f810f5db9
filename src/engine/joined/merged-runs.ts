/**
 * Rows of several parts in the order of their series. Of a series that lies in several parts, at different times, they come in the order of
 * time, or the newest alone.
 */
import { assert } from "../../base/assert.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { JoinedSeries } from "./joined-series.ts";
import type { Reader } from "./reader.ts";

/** How rows are merged. */
export interface MergeOrder {
  /** Compares joined series; 0 only for one and the same. */
  compare(a: number, b: number): number;
  /** Place of the times in batches. */
  readonly timePlace: number;
  /** Only the newest row of each series, of which each part gives its own. */
  readonly newestOnly: boolean;
}

/** What comes next of a part. */
interface Head {
  readonly reader: Reader;
  readonly batch: ScanBatch;
  readonly series: number;
}

/** Rows that come next, and rows of others that are passed over. */
interface Step {
  readonly head: Head;
  readonly end: number;
  readonly passed: readonly Head[];
}

/** Rows with the part that they are of, valid until the next are asked for. @throws as the parts' scans do */
export async function* mergedRuns(
  readers: readonly Reader[],
  series: JoinedSeries,
  order: MergeOrder,
): AsyncGenerator<{ readonly part: number; readonly batch: ScanBatch }> {
  for (;;) {
    const heads = readers.flatMap((reader) => headOf(reader, series)).sort((a, b) => order.compare(a.series, b.series));
    const [first] = heads;
    if (first === undefined) return;
    const same = heads.filter((head) => head.series === first.series);
    const { head, end, passed } = same.length === 1 ? runsOf(first, heads[1]?.series, series, order) : rowsOfSame(same, order);
    yield { part: head.reader.part, batch: head.reader.rowsTo(end) };
    await head.reader.passTo(end);
    for (const { reader } of passed) await reader.passTo(reader.row + 1);
  }
}

function headOf(reader: Reader, series: JoinedSeries): Head | [] {
  const { batch, part, run } = reader;
  return batch === undefined ? [] : { reader, batch, series: series.joinedOf(part, batch.runs.series.subarray(run), 1)[0] as number };
}

/** All runs before the next series of another part. */
function runsOf(head: Head, next: number | undefined, series: JoinedSeries, order: MergeOrder): Step {
  const { batch, reader } = head;
  if (next === undefined) return { head, end: batch.rowCount, passed: [] };
  const { starts, series: numbers } = batch.runs;
  let run = reader.run + 1;
  const at = (place: number): number => series.joinedOf(reader.part, numbers.subarray(place), 1)[0] as number;
  while (run < starts.length - 1 && order.compare(at(run), next) < 0) run++;
  return { head, end: starts[run] as number, passed: [] };
}

/** Rows of one series that several parts have next. */
function rowsOfSame(heads: readonly Head[], order: MergeOrder): Step {
  const timed = heads.map((head) => ({ head, time: timeAt(head.batch, order, head.reader.row) }));
  timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const [oldest, second] = timed;
  const newest = timed.at(-1);
  assert(oldest !== undefined && second !== undefined && newest !== undefined, "several parts");
  if (order.newestOnly) {
    return { head: newest.head, end: newest.head.reader.row + 1, passed: timed.slice(0, -1).map(({ head }) => head) };
  }
  const { batch, reader } = oldest.head;
  let low = reader.row + 1;
  let high = batch.runs.starts[reader.run + 1] as number;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeAt(batch, order, middle) < second.time) low = middle + 1;
    else high = middle;
  }
  return { head: oldest.head, end: low, passed: [] };
}

function timeAt({ vectors }: ScanBatch, { timePlace }: MergeOrder, row: number): bigint {
  const times = vectors[timePlace];
  if (times?.kind === "time") return times.base + BigInt(times.offsets[row] as number);
  assert(times?.kind === "wide", `times of a scan; got ${times?.kind}`);
  return times.values[row] as bigint;
}
