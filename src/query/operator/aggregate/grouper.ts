/**
 * Turns the rows of batches into segments: stretches of rows that belong to one group.
 *
 *   keys      series keys (tags): one code a series, remembered by series number
 *             bucket keys (time): one code a stretch of ascending times; found by galloping, so most times are never read
 *             row keys (anything): one code a row
 *   folding   code → id of (id so far, code) by a `PairTable` for each further key; the last id is the group number
 *
 * Without row keys, a segment is one series in one bucket, hundreds of rows long, and the aggregation loops run over plain stretches of
 * columns. With row keys, neighbouring rows of one group still make one segment.
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader, SeriesRuns } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { GroupKey } from "./node.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { type BucketCuts, type BucketFrame, type BucketSpan, cutBuckets, frameOf, locate } from "../../expression/kernels/bucket-starts.ts";
import { PairTable } from "../kernels/pair-table.ts";
import { endOfSpan } from "../../expression/kernels/span-end.ts";
import { BucketCodes, ValueCodes } from "../rows/key-codes.ts";
import { TagKeyCodes } from "../rows/tag-key-codes.ts";

/** Bytes a group costs in the grouper, for the budget. */
const GROUP_BYTES = 32;

/** Segments of one batch: segment s is rows `[starts[s], starts[s + 1])` of group `groups[s]`. Valid until the next batch. */
export interface Segments {
  readonly count: number;
  readonly starts: Uint32Array;
  readonly groups: Uint32Array;
  /** Times ascend within each segment. */
  readonly ascending: boolean;
}

type KeyOf<K extends GroupKey["kind"]> = Extract<GroupKey, { kind: K }>;

/** A key that is a bucket of time, with what is known of it. */
export interface BucketKey {
  readonly key: KeyOf<"bucket">;
  readonly codes: BucketCodes;
  readonly span: BucketSpan;
}

/** A key of rows, with what is known of it. */
export interface RowKey {
  readonly evaluator: VectorEvaluator;
  readonly codes: ValueCodes;
  buffer: Uint32Array;
}

/** Where the codes of a planned key are found after folding. */
interface KeyPlace {
  readonly position: number;
  readonly codes: ValueCodes | BucketCodes | TagKeyCodes;
}

/** A key of series, with what is known of it. */
export interface SeriesKey {
  readonly key: KeyOf<"series">;
  readonly codes: ValueCodes | TagKeyCodes;
}

export class Grouper {
  /** In the order that they are folded in: series, then buckets, then rows; `tables` fold each but the first. */
  readonly seriesKeys: SeriesKey[] = [];
  readonly bucketKeys: BucketKey[] = [];
  readonly rowKeys: RowKey[] = [];
  readonly tables: PairTable[] = [];
  private readonly places: KeyPlace[] = [];
  private readonly keyCount: number;
  private readonly table: ScannedTable | undefined;
  private readonly context: ExecContext;
  /** Folded id of a series' keys + 1, by series number; 0 = not seen. */
  private seriesIds = new Uint32Array(1024);
  private starts = new Uint32Array(0);
  private groups = new Uint32Array(0);
  private cuts: BucketCuts = { starts: this.starts, steps: new Float64Array(0), count: 0 };
  private count = 0;
  private largest = -1;

  constructor(keys: readonly GroupKey[], table: ScannedTable | undefined, headers: readonly ColumnHeader[], context: ExecContext) {
    this.keyCount = keys.length;
    this.table = table;
    this.context = context;
    const order = [...keys.keys()].sort((a, b) => rank(keys[a]) - rank(keys[b]));
    const { reserve } = context.budget;
    const places = new Map<number, KeyPlace>();
    for (const [position, index] of order.entries()) {
      const key = keys[index];
      if (key === undefined) continue;
      if (position > 0) this.tables.push(new PairTable());
      const codes =
        this.tagCodes(key) ?? (key.kind === "bucket" ? new BucketCodes(key.buckets, key.type) : new ValueCodes(key.type, reserve));
      places.set(index, { position, codes });
      if (key.kind === "series" && !(codes instanceof BucketCodes)) this.seriesKeys.push({ key, codes });
      else if (key.kind === "bucket" && codes instanceof BucketCodes)
        this.bucketKeys.push({ key, codes, span: { steps: 0, start: 1, end: 0 } });
      else if (key.kind === "row" && codes instanceof ValueCodes) {
        this.rowKeys.push({ evaluator: new VectorEvaluator(key.expression, headers, context), codes, buffer: new Uint32Array(0) });
      }
    }
    for (const index of keys.keys()) {
      const place = places.get(index);
      if (place !== undefined) this.places.push(place);
    }
  }

  /** Codes of a key that is a tag as it is. */
  private tagCodes(key: GroupKey): TagKeyCodes | undefined {
    if (key.kind !== "series" || key.expression.kind !== "column" || key.type.kind !== "string" || this.table === undefined)
      return undefined;
    const column = this.table.schema.columns[key.expression.index];
    return column === undefined ? undefined : new TagKeyCodes(this.context.series.of(this.table), column.name, this.context.budget.reserve);
  }

  /** Groups found so far. Without keys there is always one. */
  get groupCount(): number {
    return this.keyCount === 0 ? 1 : this.largest + 1;
  }

  /** Cuts a batch into segments. */
  segments(batch: ExecBatch): Segments {
    const { rowCount } = batch;
    if (this.starts.length < rowCount + 1) {
      this.starts = new Uint32Array(rowCount + 1);
      this.groups = new Uint32Array(rowCount + 1);
      this.cuts = { starts: this.starts, steps: new Float64Array(rowCount + 1), count: 0 };
    }
    this.count = 0;
    const before = this.groupCount;
    for (const { codes } of this.seriesKeys) if (codes instanceof TagKeyCodes) codes.beginBatch();
    if (this.keyCount === 0) this.push(0, 0);
    else if (this.rowKeys.length > 0) this.byRow(batch);
    else this.byRun(batch);
    this.starts[this.count] = rowCount;
    this.context.budget.reserve((this.groupCount - before) * GROUP_BYTES);
    return {
      count: rowCount === 0 ? 0 : this.count,
      starts: this.starts,
      groups: this.groups,
      ascending: this.rowKeys.length === 0 && (this.keyCount > 0 || batch.runs?.starts.length === 2),
    };
  }

  /** The values of one planned key for groups `[from, to)`, once all rows have been there. */
  keyVector(key: number, from: number, to: number): Vector {
    const place = this.places[key];
    assert(place !== undefined, `a key below ${this.keyCount}; got ${key}`);
    const codes = new Uint32Array(to - from);
    for (let i = 0; i < codes.length; i++) codes[i] = this.codeAt(from + i, place.position);
    return place.codes.vector(codes, codes.length);
  }

  private codeAt(group: number, position: number): number {
    let id = group;
    for (let table = this.tables.length; table > 0; table--) {
      const pairs = this.tables[table - 1];
      if (table === position) return pairs?.seconds[id] ?? 0;
      id = pairs?.firsts[id] ?? 0;
    }
    return id;
  }

  private fold(id: number, code: number, position: number): number {
    if (position === 0) return code;
    const table = this.tables[position - 1];
    assert(table !== undefined, `a fold below ${this.keyCount}; got ${position}`);
    return table.idOf(id, code);
  }

  /** Begins a segment. `join`: unless the rows before belong to the same group. */
  private push(start: number, group: number, join = false): void {
    if (join && this.count > 0 && this.groups[this.count - 1] === group) return;
    this.starts[this.count] = start;
    this.groups[this.count++] = group;
    if (group > this.largest) this.largest = group;
  }

  /** Id of the series keys of a run. */
  private seriesId(series: number): number {
    if (series >= this.seriesIds.length) {
      const grown = new Uint32Array(Math.max(series + 1, this.seriesIds.length * 2));
      grown.set(this.seriesIds);
      this.seriesIds = grown;
    }
    const known = this.seriesIds[series] ?? 0;
    if (known > 0) return known - 1;
    const id = this.computeSeries(series);
    this.seriesIds[series] = id + 1;
    return id;
  }

  private computeSeries(series: number): number {
    const { table } = this;
    assert(table !== undefined, "series keys come with their table");
    const numbers = this.context.series.of(table);
    const read = (index: number): string | undefined => {
      const column = table.schema.columns[index];
      if (column === undefined) return undefined;
      return numbers.tagOf(column.name, series);
    };
    let id = 0;
    for (let position = 0; position < this.seriesKeys.length; position++) {
      const { key, codes } = this.seriesKeys[position] as (typeof this.seriesKeys)[number];
      const isTag = codes instanceof TagKeyCodes;
      const code = isTag ? codes.codeOf(series) : codes.codeOf(evaluate(key.expression, read, this.context.environment));
      id = this.fold(id, code, position);
    }
    return id;
  }

  private byRun(batch: ExecBatch): void {
    const runs = runsOf(batch, this.seriesKeys.length > 0);
    const [bucket, ...others] = this.bucketKeys;
    const frames = this.frames(batch);
    for (let run = 0; run < runs.series.length; run++) {
      const from = runs.starts[run] ?? 0;
      const to = runs.starts[run + 1] ?? 0;
      const series = this.seriesKeys.length === 0 ? 0 : this.seriesId(runs.series[run] ?? 0);
      if (bucket === undefined) this.push(from, series);
      else if (others.length === 0) this.bucketRun(batch, bucket, frames[0], series, from, to);
      else this.bucketRows(batch, frames, series, from, to, undefined);
    }
  }

  private frames(batch: ExecBatch): readonly (BucketFrame | undefined)[] {
    return this.bucketKeys.map(({ key, span }) => {
      const vector = batch.vectors[key.column];
      span.start = 1;
      span.end = 0;
      return vector?.kind === "time" ? frameOf(key.buckets, vector.base) : undefined;
    });
  }

  /** Ascending times of one run and one bucket key: gallop from border to border. */
  private bucketRun(
    batch: ExecBatch,
    { key, codes, span }: BucketKey,
    frame: BucketFrame | undefined,
    series: number,
    from: number,
    to: number,
  ): void {
    const vector = batch.vectors[key.column];
    if (vector?.kind !== "time" || frame === undefined) return;
    const { offsets } = vector;
    const steps = codes.stepsTo(frame);
    const position = this.seriesKeys.length;
    const seriesTable = position === 0 ? undefined : this.tables[position - 1];
    if (frame.width > 0) {
      const { cuts } = this;
      cuts.count = this.count;
      cutBuckets(offsets, from, to, frame.width, frame.rest, cuts);
      for (let cut = this.count; cut < cuts.count; cut++) {
        const code = codes.codeOf(steps + (cuts.steps[cut] ?? 0));
        const group = seriesTable === undefined ? code : seriesTable.idOf(series, code);
        this.groups[cut] = group;
        if (group > this.largest) this.largest = group;
      }
      this.count = cuts.count;
      return;
    }
    for (let row = from; row < to; ) {
      locate(frame, offsets[row] ?? 0, span);
      const code = codes.codeOf(steps + span.steps);
      this.push(row, seriesTable === undefined ? code : seriesTable.idOf(series, code));
      row = endOfSpan(offsets, row, to, span.end);
    }
  }

  /** Any keys, row by row. */
  private bucketRows(
    batch: ExecBatch,
    frames: readonly (BucketFrame | undefined)[],
    series: number,
    from: number,
    to: number,
    rowKeys: readonly RowKey[] | undefined,
  ): void {
    const seriesCount = this.seriesKeys.length;
    const bucketCount = this.bucketKeys.length;
    for (let row = from; row < to; row++) {
      let id = series;
      for (let b = 0; b < bucketCount; b++) id = this.fold(id, this.bucketCode(batch, b, frames[b], row), seriesCount + b);
      if (rowKeys !== undefined)
        for (let k = 0; k < rowKeys.length; k++) id = this.fold(id, rowKeys[k]?.buffer[row] ?? 0, seriesCount + bucketCount + k);
      this.push(row, id, true);
    }
  }

  private bucketCode(batch: ExecBatch, index: number, frame: BucketFrame | undefined, row: number): number {
    const bucket = this.bucketKeys[index];
    const vector = bucket === undefined ? undefined : batch.vectors[bucket.key.column];
    assert(bucket !== undefined && vector?.kind === "time" && frame !== undefined, "a bucket key reads a time column");
    const offset = vector.offsets[row] ?? 0;
    if (offset < bucket.span.start || offset >= bucket.span.end) locate(frame, offset, bucket.span);
    return bucket.codes.codeOf(bucket.codes.stepsTo(frame) + bucket.span.steps);
  }

  private byRow(batch: ExecBatch): void {
    for (const key of this.rowKeys) {
      if (key.buffer.length < batch.rowCount) key.buffer = new Uint32Array(batch.rowCount);
      key.codes.encode(key.evaluator.vector(batch), batch.rowCount, key.buffer);
    }
    const frames = this.frames(batch);
    const runs = runsOf(batch, this.seriesKeys.length > 0);
    for (let run = 0; run < runs.series.length; run++) {
      const series = this.seriesKeys.length === 0 ? 0 : this.seriesId(runs.series[run] ?? 0);
      this.bucketRows(batch, frames, series, runs.starts[run] ?? 0, runs.starts[run + 1] ?? 0, this.rowKeys);
    }
  }
}

/** Series keys come first, then buckets, then the rest, so that what changes rarely is folded rarely. */
function rank(key: GroupKey | undefined): number {
  return key?.kind === "series" ? 0 : key?.kind === "bucket" ? 1 : 2;
}

/** The runs of a batch; one run of all rows where rows are not a scan's. */
function runsOf(batch: ExecBatch, needed: boolean): SeriesRuns {
  if (batch.runs !== undefined) return batch.runs;
  assert(!needed, "series keys group batches of a scan");
  return { starts: Uint32Array.of(0, batch.rowCount), series: new Uint32Array(1) };
}
