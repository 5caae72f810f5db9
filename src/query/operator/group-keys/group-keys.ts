/**
 * The keys of an aggregation: for each batch the group of each row, found or made, looked up alone, or hashed for a partition on disk.
 *
 *   keys      series keys (tags): one code a series, remembered by series number
 *             bucket keys (time): one code a range of times (`row-ranges.ts`)
 *             row keys (anything): one code a row (`key-table.ts`)
 *   folding   codes → number of the codes so far (`CodeTuples`): once a range for series and time, once a row for the rest
 *
 * Without row keys, a segment is a range, and the aggregation loops run over plain ranges of columns. With row keys, neighbouring rows
 * of one group make one segment.
 */
import { countingUp } from "../../../base/bytes/counting-up.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { GroupKey } from "../aggregate/node.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { Value } from "../../function/value/value.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { CodeTuples } from "../kernels/code-tuples.ts";
import { gather } from "../kernels/gather.ts";
import { BucketCodes } from "./bucket-codes.ts";
import { foldHash, keyHashes, valueHash } from "./key-hashes.ts";
import { KeyTable, NO_ROW } from "./key-table.ts";
import { RangeCutter, type Ranges } from "./row-ranges.ts";
import { TagCodes } from "./tag-codes.ts";
import { ValueCodes } from "./value-codes.ts";

/** What has no group. */
export const NO_GROUP: number = NO_ROW;

/** Bytes that a group of series and time costs beside its values, about. */
const GROUP_BYTES = 24;

/** Segments of one batch: segment s is rows `[starts[s], starts[s + 1])` of group `groups[s]`. Valid until the next batch. */
export interface Segments {
  readonly count: number;
  readonly starts: Uint32Array;
  readonly groups: Uint32Array;
  /** Times ascend within each segment. */
  readonly ascending: boolean;
  /** The group of each row, where segments are so short that loops had better go row by row. */
  readonly rowGroups?: Int32Array | undefined;
}

/** Rows of a segment, on the average, below which loops go row by row: sums of 2M rows, 1M groups, 33 to 48 ms by segments, 18 to 24 so. */
const SHORT_SEGMENT_ROWS = 4;

/** Rows of a batch among groups that are known. Valid until the next batch. */
export interface LookedUp {
  /** The group of each row, or `NO_GROUP`. */
  readonly groups: Int32Array;
  /** A 32-bit hash of the keys of some rows, whose positions ascend: equal keys, equal hashes, in every batch. */
  readonly hashesOf: (rows: Uint32Array) => Uint32Array;
}

type KeyOf<K extends GroupKey["kind"]> = Extract<GroupKey, { kind: K }>;

/** A key that depends on the series alone. */
interface SeriesKey {
  readonly key: KeyOf<"series">;
  readonly codes: ValueCodes | TagCodes;
}

/** A key that is a bucket of time. */
interface BucketKey {
  readonly key: KeyOf<"bucket">;
  readonly codes: BucketCodes;
}

/** Where the values of a planned key are found. */
type KeyPlace =
  | { readonly codes: ValueCodes | TagCodes | BucketCodes; readonly position: number }
  /** Of row keys: its place among them. */
  | { readonly codes: undefined; readonly column: number };

/** See the file header. */
export class GroupKeys {
  private readonly seriesKeys: readonly SeriesKey[];
  private readonly bucketKeys: readonly BucketKey[];
  private readonly rowKeys: readonly VectorEvaluator[];
  private readonly rowTypes: readonly DataType[];
  private readonly places: readonly KeyPlace[];
  /** Of series and buckets, in this order, which changes rarely; behind them the rows. */
  private readonly tuples: CodeTuples;
  private readonly rows: KeyTable | undefined;
  private readonly cutter: RangeCutter;
  private readonly table: ScannedTable | undefined;
  private readonly context: ExecContext;
  /** By series number: the number of its keys + 1; 0: not seen; `NO_GROUP`: none of those that are known. */
  private seriesIds = new Int32Array(64);
  private readonly seriesHashes: Map<number, number> = new Map();
  /** Numbers of series and time by range; by row where there are row keys. */
  private rangeIds = new Int32Array(0);
  private prefixes = new Int32Array(0);
  private starts = new Uint32Array(0);
  private groups = new Uint32Array(0);

  /** @param isSmall whether it is one of many tables of groups */
  constructor(
    keys: readonly GroupKey[],
    table: ScannedTable | undefined,
    headers: readonly ColumnHeader[],
    context: ExecContext,
    isSmall: boolean = false,
  ) {
    this.table = table;
    this.context = context;
    const { reserve } = context.budget;
    const seriesKeys = keys.filter((key) => key.kind === "series");
    const bucketKeys = keys.filter((key) => key.kind === "bucket");
    const rowKeys = keys.filter((key) => key.kind === "row");
    this.seriesKeys = seriesKeys.map((key) => ({ key, codes: this.tagCodes(key) ?? new ValueCodes(key.type, reserve) }));
    this.bucketKeys = bucketKeys.map((key) => ({ key, codes: new BucketCodes(key.buckets, key.type) }));
    this.rowKeys = rowKeys.map((key) => new VectorEvaluator(key.expression, headers, context));
    this.rowTypes = rowKeys.map(({ type }) => type);
    const ahead = [...this.seriesKeys, ...this.bucketKeys];
    const hasPrefix = ahead.length > 0;
    this.tuples = new CodeTuples(ahead.length);
    this.rows = rowKeys.length === 0 ? undefined : new KeyTable(this.rowTypes, { nullsMatch: true, hasPrefix, isSmall }, reserve);
    this.cutter = new RangeCutter(seriesKeys.length > 0, bucketKeys, rowKeys.length > 0);
    this.places = keys.map((key): KeyPlace => {
      if (key.kind === "row") return { codes: undefined, column: rowKeys.indexOf(key) };
      const position = ahead.findIndex((own) => own.key === key);
      const codes = ahead[position]?.codes;
      assert(codes !== undefined, "each key of series or time has codes");
      return { codes, position };
    });
  }

  /** Codes of a key that is a tag as it is. */
  private tagCodes({ expression, type }: KeyOf<"series">): TagCodes | undefined {
    if (expression.kind !== "column" || type.kind !== "string" || this.table === undefined) return undefined;
    const column = this.table.schema.columns[expression.index];
    return column === undefined ? undefined : new TagCodes(this.context.series.of(this.table), column.name, this.context.budget.reserve);
  }

  /** Groups found so far. Without keys there is always one. */
  get groupCount(): number {
    if (this.rows !== undefined) return this.rows.size;
    const ahead = this.seriesKeys.length + this.bucketKeys.length;
    return ahead > 1 ? this.tuples.size : ((this.seriesKeys[0] ?? this.bucketKeys[0])?.codes.size ?? 1);
  }

  /** Cuts a batch into segments; new keys make new groups. */
  segments(batch: ExecBatch): Segments {
    const before = this.groupCount;
    const ranges = this.cutter.cut(batch);
    const ids = this.idsOf(ranges, true);
    if (this.rows !== undefined) {
      const rowIds = this.rows.add(this.rowVectors(batch), batch.rowCount, this.prefixesOf(ranges, ids));
      return { ...this.runsOf(rowIds), ascending: false };
    }
    this.context.budget.reserve((this.groupCount - before) * GROUP_BYTES);
    return {
      count: batch.rowCount === 0 ? 0 : ranges.count,
      starts: ranges.starts,
      groups: new Uint32Array(ids.buffer, 0, ranges.count),
      ascending: this.places.length > 0 || batch.runs?.starts.length === 2,
    };
  }

  /** Looks for the groups of rows, without making any. No group is made after the first look. */
  lookUp(batch: ExecBatch): LookedUp {
    const { rowCount } = batch;
    const ranges = this.cutter.cut(batch);
    const vectors = this.rowVectors(batch);
    const ids = this.idsOf(ranges, false);
    const groups = this.rows?.find(vectors, rowCount, this.prefixesOf(ranges, ids)) ?? expanded(ranges, ids, new Int32Array(rowCount));
    return { groups, hashesOf: (rows) => this.hashesOf(ranges, vectors, rows) };
  }

  /** The values of one planned key for groups `[from, to)`, once all rows have been there. */
  keyVector(key: number, from: number, to: number): Vector {
    const place = this.places[key];
    assert(place !== undefined, `a key below ${this.places.length}; got ${key}`);
    const ids = new Uint32Array(to - from);
    for (let i = 0; i < ids.length; i++) ids[i] = from + i;
    if (place.codes !== undefined) return place.codes.vector(this.tuples.codesAt(place.position, this.rows?.prefixesOf(ids) ?? ids));
    assert(this.rows !== undefined, "row keys have a table");
    return this.rows.vector(place.column, ids);
  }

  /** Numbers of the keys of series and time, range by range. */
  private idsOf(ranges: Ranges, isNew: boolean): Int32Array {
    const { count, frames, steps } = ranges;
    if (this.rangeIds.length < count) this.rangeIds = new Int32Array(count);
    const { rangeIds, tuples } = this;
    if (this.seriesKeys.length > 0) this.seriesIdsOf(ranges, isNew, rangeIds);
    else rangeIds.fill(0, 0, count);
    for (const [b, bucket] of this.bucketKeys.entries()) {
      const [frame, own] = [frames[b], steps[b]];
      assert(frame !== undefined && own !== undefined, "ranges have steps for each bucket key");
      const position = this.seriesKeys.length + b;
      const { codes } = bucket;
      const before = codes.stepsTo(frame);
      for (let s = 0; s < count; s++) {
        rangeIds[s] = tuples.idOf(rangeIds[s] as number, codes.codeOf(before + (own[s] as number), isNew), position, isNew);
      }
    }
    return rangeIds;
  }

  private seriesIdsOf({ series, ends }: Ranges, isNew: boolean, into: Int32Array): void {
    for (const { codes } of this.seriesKeys) if (codes instanceof TagCodes) codes.beginBatch();
    let s = 0;
    for (let run = 0; run < series.length; run++) {
      const id = this.seriesId(series[run] as number, isNew);
      const end = ends[run] as number;
      for (; s < end; s++) into[s] = id;
    }
  }

  private seriesId(series: number, isNew: boolean): number {
    if (series >= this.seriesIds.length) {
      this.seriesIds = longer(this.seriesIds, series + 1);
    }
    const known = this.seriesIds[series] as number;
    if (known !== 0) return known > 0 ? known - 1 : NO_GROUP;
    let id = 0;
    for (const [position, { key, codes }] of this.seriesKeys.entries()) {
      const code = codes instanceof TagCodes ? codes.codeOf(series, isNew) : codes.codeOf(this.valueOf(key, series), isNew);
      id = this.tuples.idOf(id, code, position, isNew);
    }
    this.seriesIds[series] = id < 0 ? NO_GROUP : id + 1;
    return id;
  }

  /** The value of a key in a series. */
  private valueOf({ expression }: KeyOf<"series">, series: number): Value {
    const { table, context } = this;
    assert(table !== undefined, "series keys come with their table");
    const read = (index: number): string | undefined => {
      const column = table.schema.columns[index];
      return column === undefined ? undefined : context.series.of(table).tagOf(column.name, series);
    };
    return evaluate(expression, read, context.environment);
  }

  private rowVectors(batch: ExecBatch): readonly Vector[] {
    return this.rowKeys.map((evaluator) => evaluator.vector(batch));
  }

  /** What row keys are folded behind: the number of each row's range, where there are keys before them. */
  private prefixesOf(ranges: Ranges, ids: Int32Array): Int32Array | undefined {
    if (this.seriesKeys.length + this.bucketKeys.length === 0) return undefined;
    const rowCount = ranges.starts[ranges.count] as number;
    if (this.prefixes.length < rowCount) this.prefixes = new Int32Array(rowCount);
    return expanded(ranges, ids, this.prefixes);
  }

  /** Neighbouring rows of one number as a segment. */
  private runsOf(ids: Int32Array): Omit<Segments, "ascending"> {
    const rowCount = ids.length;
    if (this.starts.length < rowCount + 1) {
      this.starts = new Uint32Array(rowCount + 1);
      this.groups = new Uint32Array(rowCount + 1);
    }
    const { starts, groups } = this;
    if (changesOften(ids, rowCount))
      return { count: rowCount, starts: eachRow(rowCount), groups: new Uint32Array(ids.buffer, ids.byteOffset, rowCount), rowGroups: ids };
    const count = cutRuns(ids, rowCount, starts, groups);
    return { count, starts, groups, rowGroups: count * SHORT_SEGMENT_ROWS > rowCount ? ids : undefined };
  }

  private hashesOf({ starts, series, ends, frames, steps }: Ranges, vectors: readonly Vector[], rows: Uint32Array): Uint32Array {
    const hashes = new Uint32Array(rows.length);
    let [s, run, end, own] = [-1, 0, 0, 0];
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row >= end) {
        while (row >= end) end = starts[++s + 1] ?? Number.POSITIVE_INFINITY;
        while (s >= (ends[run] ?? Number.POSITIVE_INFINITY)) run++;
        own = this.seriesKeys.length === 0 ? 0 : this.seriesHash(series[run] as number);
        // By the number of the bucket, which is the same from any base.
        for (const [b, frame] of frames.entries()) own = foldHash(own, valueHash(frame.baseIndex + BigInt(steps[b]?.[s] as number)));
      }
      hashes[i] = own;
    }
    const gathered = vectors.map((vector) => gather(vector, rows, rows.length));
    return keyHashes(gathered, this.rowTypes, rows.length, hashes);
  }

  private seriesHash(series: number): number {
    let hash = this.seriesHashes.get(series);
    if (hash !== undefined) return hash;
    hash = 0;
    for (const { key } of this.seriesKeys) hash = foldHash(hash, valueHash(this.valueOf(key, series)));
    this.seriesHashes.set(series, hash);
    return hash;
  }
}

/** The number of each range in all of its rows. */
function expanded({ starts, count }: Ranges, ids: Int32Array, into: Int32Array): Int32Array {
  // Ranges may be of one row each: a loop costs less than a call of `fill`.
  for (let s = 0; s < count; s++) {
    const id = ids[s] as number;
    const end = starts[s + 1] as number;
    for (let row = starts[s] as number; row < end; row++) into[row] = id;
  }
  return into;
}

/** Rows that are looked at, at each of some places, before runs are cut. */
const SAMPLE_ROWS = 64;
const SAMPLES = 4;

/** Whether groups change so often that runs are not worth finding: each row is one. */
function changesOften(ids: Int32Array, rowCount: number): boolean {
  if (rowCount < SAMPLES * SAMPLE_ROWS) return false;
  let changes = 0;
  const step = Math.floor((rowCount - SAMPLE_ROWS) / (SAMPLES - 1));
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = sample * step;
    for (let row = from + 1; row < from + SAMPLE_ROWS; row++) if (ids[row] !== ids[row - 1]) changes++;
  }
  return changes * 2 > SAMPLES * SAMPLE_ROWS;
}

let rowStarts: Uint32Array = new Uint32Array(0);

/** Where segments of a row each begin: shared, and never written. */
function eachRow(rowCount: number): Uint32Array {
  if (rowStarts.length <= rowCount) rowStarts = countingUp(Math.max(rowCount + 1, rowStarts.length * 2));
  return rowStarts;
}

/** Begins a run where the number changes; gives how many there are, of which `starts` has one element more. */
function cutRuns(ids: Int32Array, rowCount: number, starts: Uint32Array, groups: Uint32Array): number {
  let count = 0;
  let last = NO_GROUP;
  for (let row = 0; row < rowCount; row++) {
    const id = ids[row] as number;
    if (id === last) continue;
    last = id;
    starts[count] = row;
    groups[count++] = id;
  }
  starts[count] = rowCount;
  return count;
}
