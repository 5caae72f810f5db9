/**
 * Rows of several parts in the order of their series. Of a series that lies in several parts, at different times, they come in the order of
 * time, or the newest alone.
 */
import { assert } from "../../base/assert.ts";
import { compareText, tagScalar } from "../../storage/series/series-ranks.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { compareTagValues } from "../../table/tag-value.ts";
import type { JoinedSeries } from "./joined-series.ts";
import type { Reader } from "./reader.ts";

/** An order of joined series. Of two series that compare as equal the one that was numbered first comes first. */
export interface SeriesOrder<Key> {
  /** What a series is compared by. */
  keyOf(series: number): Key;
  compare(a: Key, b: Key): number;
}

/** How rows are merged. */
export interface MergeOrder {
  readonly order: SeriesOrder<unknown>;
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

/** What comes next of a part, with its key: the same series is compared with several others. */
class Head {
  readonly reader: Reader;
  /** Joined number of the series. */
  series = -1;
  private readonly order: SeriesOrder<unknown>;
  private key: unknown;

  constructor(reader: Reader, order: SeriesOrder<unknown>) {
    this.reader = reader;
    this.order = order;
  }

  /** Goes to a series. */
  moveTo(series: number): void {
    this.series = series;
    this.key = this.order.keyOf(series);
  }

  /** 0 only for one and the same series. */
  compare(other: Head): number {
    return this.series === other.series ? 0 : this.order.compare(this.key, other.key) || this.series - other.series;
  }
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
    this.heads = readers.filter(({ batch }) => batch !== undefined).map((reader) => new Head(reader, order.order));
    for (const head of this.heads) head.moveTo(this.seriesAt(head.reader, head.reader.run));
  }

  /** Whether a part has to go on to its next batch first: `goOn`. */
  get isAtEnd(): boolean {
    for (const { reader } of this.heads) if (reader.isAtEnd) return true;
    return false;
  }

  /** The rows that come next, valid until `goOn`; undefined once there are none. Not while `isAtEnd`. */
  next(): RowsOfPart | undefined {
    let first: Head | undefined;
    let second: Head | undefined;
    for (const head of this.heads) {
      if (first === undefined) first = head;
      else if (head.series !== first.series && head.compare(first) < 0) {
        second = first;
        first = head;
      } else if (second === undefined || head.compare(second) < 0) second = head;
    }
    if (first === undefined) return undefined;
    if (second?.series === first.series) return this.ofSame(first.series);
    return this.take(first, second === undefined ? (first.reader.batch as ScanBatch).rowCount : this.endBefore(first, second));
  }

  /** Lets parts that are at the end of a batch go on to the next. @throws as their scans do */
  async goOn(): Promise<void> {
    for (const head of this.heads) {
      if (!head.reader.isAtEnd) continue;
      await head.reader.goOn();
      if (head.reader.batch !== undefined) head.moveTo(this.seriesAt(head.reader, head.reader.run));
    }
    this.heads = this.heads.filter(({ reader }) => reader.batch !== undefined);
  }

  private seriesAt({ batch, part }: Reader, run: number): number {
    return this.series.joinedNumber(part, (batch as ScanBatch).runs.series[run] as number);
  }

  /** The end of all runs before the series of another part; the head is at the series behind it then. */
  private endBefore(head: Head, next: Head): number {
    const { reader } = head;
    const { starts } = (reader.batch as ScanBatch).runs;
    for (let run = reader.run + 1; run < starts.length - 1; run++) {
      head.moveTo(this.seriesAt(reader, run));
      if (head.compare(next) >= 0) return starts[run] as number;
    }
    return starts.at(-1) as number;
  }

  private take(head: Head, to: number): RowsOfPart {
    const { reader } = head;
    const { part, row: from, run } = reader;
    const batch = reader.batch as ScanBatch;
    reader.passTo(to);
    if (!reader.isAtEnd) {
      const series = this.seriesAt(reader, reader.run);
      if (series !== head.series) head.moveTo(series);
    }
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

/** The order of key columns in turn: NULL first, text by code point, others by value. */
export function orderByTags({ primaryKey, columns }: TableSchema, series: SeriesView): SeriesOrder<unknown> {
  const keys = primaryKey.flatMap((name) => columns.find((column) => column.name === name) ?? []);
  const order: SeriesOrder<TagKey> = {
    keyOf: (number) => new TagKey(number, series, keys),
    compare: (a, b) => a.compare(b),
  };
  return order as SeriesOrder<unknown>;
}

/** The tags of a series, as far as they were looked at. */
class TagKey {
  private readonly number: number;
  private readonly series: SeriesView;
  private readonly columns: readonly ColumnSchema[];
  private readonly texts: (string | undefined)[] = [];

  constructor(number: number, series: SeriesView, columns: readonly ColumnSchema[]) {
    this.number = number;
    this.series = series;
    this.columns = columns;
  }

  compare(other: TagKey): number {
    for (let i = 0; i < this.columns.length; i++) {
      const x = this.text(i);
      const y = other.text(i);
      if (x === y) continue;
      const { type } = this.columns[i] as ColumnSchema;
      const difference = type.kind === "string" ? 0 : compareTagValues(tagScalar(x, type), tagScalar(y, type));
      return difference === 0 ? compareText(x, y) : difference;
    }
    return 0;
  }

  private text(i: number): string | undefined {
    const { texts } = this;
    while (texts.length <= i) texts.push(this.series.tagOf((this.columns[texts.length] as ColumnSchema).name, this.number));
    return texts[i];
  }
}
