/**
 * The groups of rows among those that a grouper knows already, without adding any: once an aggregation is out of memory, rows of groups
 * that it holds go on into their states, and all others to disk.
 */
import { assert } from "../../../base/assert.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { BucketKey, Grouper } from "./grouper.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { type BucketFrame, frameOf, locate } from "../../expression/kernels/bucket-starts.ts";
import { TagKeyCodes } from "../rows/tag-key-codes.ts";

/** What has no group. */
export const NO_GROUP = -1;

/** See the file header. */
export class GroupFinder {
  private readonly grouper: Grouper;
  private readonly table: ScannedTable | undefined;
  private readonly context: ExecContext;
  /** Folded id of the keys of a series, or `NO_GROUP`. */
  private readonly series: Map<number, number> = new Map();

  constructor(grouper: Grouper, table: ScannedTable | undefined, context: ExecContext) {
    this.grouper = grouper;
    this.table = table;
    this.context = context;
  }

  /** The group of each row, or `NO_GROUP`. */
  find(batch: ExecBatch): Int32Array {
    const { rowCount, runs } = batch;
    const { seriesKeys, bucketKeys, rowKeys } = this.grouper;
    const ids = new Int32Array(rowCount);
    if (seriesKeys.length > 0) {
      assert(runs !== undefined, "series keys group batches of a scan");
      for (let run = 0; run < runs.series.length; run++) {
        ids.fill(this.seriesId(runs.series[run] ?? 0), runs.starts[run] ?? 0, runs.starts[run + 1] ?? 0);
      }
    }
    let position = seriesKeys.length;
    for (const bucket of bucketKeys) this.foldBuckets(ids, batch, bucket, position++);
    for (const { evaluator, codes } of rowKeys) this.fold(ids, codes.findAll(evaluator.vector(batch), rowCount), position++);
    return ids;
  }

  private seriesId(series: number): number {
    const known = this.series.get(series);
    if (known !== undefined) return known;
    const { table, context } = this;
    assert(table !== undefined, "series keys come with their table");
    const read = (index: number): string | undefined => {
      const column = table.schema.columns[index];
      return column === undefined ? undefined : context.series.of(table).tagOf(column.name, series);
    };
    let id = 0;
    for (const [position, { key, codes }] of this.grouper.seriesKeys.entries()) {
      const isTag = codes instanceof TagKeyCodes;
      id = this.folded(id, isTag ? codes.find(series) : codes.find(evaluate(key.expression, read, context.environment)), position);
    }
    this.series.set(series, id);
    return id;
  }

  private foldBuckets(ids: Int32Array, batch: ExecBatch, { key, codes, span }: BucketKey, position: number): void {
    const vector = batch.vectors[key.column];
    assert(vector?.kind === "time", "a bucket key reads a time column");
    const frame: BucketFrame = frameOf(key.buckets, vector.base);
    const before = codes.stepsTo(frame);
    span.start = 1;
    span.end = 0;
    let code = NO_GROUP;
    for (let row = 0; row < batch.rowCount; row++) {
      const offset = vector.offsets[row] ?? 0;
      if (offset < span.start || offset >= span.end) {
        locate(frame, offset, span);
        code = codes.find(before + span.steps);
      }
      ids[row] = this.folded(ids[row] ?? 0, code, position);
    }
  }

  private fold(ids: Int32Array, codes: Int32Array, position: number): void {
    for (let row = 0; row < ids.length; row++) ids[row] = this.folded(ids[row] ?? 0, codes[row] ?? 0, position);
  }

  private folded(id: number, code: number, position: number): number {
    if (id === NO_GROUP || code < 0) return NO_GROUP;
    return position === 0 ? code : (this.grouper.tables[position - 1]?.find(id, code) ?? NO_GROUP);
  }
}
