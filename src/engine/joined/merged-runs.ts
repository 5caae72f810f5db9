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
  readonly compare: (a: number, b: number) => number;
  /** Place of the times in batches. */
  readonly timePlace: number;
  /** Only the newest row of each series, of which each part gives its own. */
  readonly newestOnly: boolean;
}

/** Rows `[from, to)` of a batch of a part, the first of them in run `run`. */
export interface RowsOfPart {
  readonly part: number;
  readonly batch: ScanBatch;
  readonly from: number;
  readonly to: number;
  readonly run: number;
}

/** What comes next of a part. */
interface Head {
  readonly reader: Reader;
  /** Joined number of the series. */
  series: number;
}

/** See the file header. */
export class MergedRuns {
  /** Parts that have rows left. */
  private heads: Head[];
  private readonly series: JoinedSeries;
  private readonly order: MergeOrder;

  constructor(readers: readonly Reader[], series: JoinedSeries, order: MergeOrder) {
    this.series = series;
    this.order = order;
    this.heads = readers.flatMap((reader) => (reader.batch === undefined ? [] : [{ reader, series: this.seriesOf(reader) }]));
  }

  /** Whether a part has to go on to its next batch first: `goOn`. */
  get isAtEnd(): boolean {
    for (const { reader } of this.heads) if (reader.isAtEnd) return true;
    return false;
  }

  /** The rows that come next, valid until `goOn`; undefined once there are none. Not while `isAtEnd`. */
  next(): RowsOfPart | undefined {
    const { compare } = this.order;
    let first: Head | undefined;
    let second: Head | undefined;
    for (const head of this.heads) {
      if (first === undefined) first = head;
      else if (head.series !== first.series && compare(head.series, first.series) < 0) {
        second = first;
        first = head;
      } else if (second === undefined || compare(head.series, second.series) < 0) second = head;
    }
    if (first === undefined) return undefined;
    if (second?.series === first.series) return this.ofSame(first.series);
    return this.take(first, second === undefined ? (first.reader.batch as ScanBatch).rowCount : this.endBefore(first, second.series));
  }

  /** Lets parts that are at the end of a batch go on to the next. @throws as their scans do */
  async goOn(): Promise<void> {
    for (const head of this.heads) {
      if (!head.reader.isAtEnd) continue;
      await head.reader.goOn();
      if (head.reader.batch !== undefined) head.series = this.seriesOf(head.reader);
    }
    this.heads = this.heads.filter(({ reader }) => reader.batch !== undefined);
  }

  private seriesOf({ batch, part, run }: Reader): number {
    return this.series.joinedNumber(part, (batch as ScanBatch).runs.series[run] as number);
  }

  /** All runs before a series of another part. */
  private endBefore({ reader }: Head, next: number): number {
    const { starts, series: numbers } = (reader.batch as ScanBatch).runs;
    let run = reader.run + 1;
    while (run < starts.length - 1 && this.order.compare(this.series.joinedNumber(reader.part, numbers[run] as number), next) < 0) run++;
    return starts[run] as number;
  }

  private take(head: Head, to: number): RowsOfPart {
    const { reader } = head;
    const { part, row: from, run } = reader;
    const batch = reader.batch as ScanBatch;
    reader.passTo(to);
    if (!reader.isAtEnd) head.series = this.seriesOf(reader);
    return { part, batch, from, to, run };
  }

  /** Rows of one series that several parts have next. */
  private ofSame(series: number): RowsOfPart {
    const same = this.heads.filter((head) => head.series === series);
    const timed = same.map((head) => ({ head, time: timeAt(head.reader.batch as ScanBatch, this.order, head.reader.row) }));
    timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    const [oldest, second] = timed;
    const newest = timed.at(-1);
    assert(oldest !== undefined && second !== undefined && newest !== undefined, "several parts");
    if (this.order.newestOnly) {
      for (const { head } of timed.slice(0, -1)) this.take(head, head.reader.row + 1);
      return this.take(newest.head, newest.head.reader.row + 1);
    }
    const { reader } = oldest.head;
    const batch = reader.batch as ScanBatch;
    let low = reader.row + 1;
    let high = batch.runs.starts[reader.run + 1] as number;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (timeAt(batch, this.order, middle) < second.time) low = middle + 1;
      else high = middle;
    }
    return this.take(oldest.head, low);
  }
}

function timeAt({ vectors }: ScanBatch, { timePlace }: MergeOrder, row: number): bigint {
  const times = vectors[timePlace];
  if (times?.kind === "time") return times.base + BigInt(times.offsets[row] as number);
  assert(times?.kind === "wide", `times of a scan; got ${times?.kind}`);
  return times.values[row] as bigint;
}
