/**
 * Builds a `WriteBatch` from rows of scalars: for COPY and tests. Decoders of protocols fill columns themselves.
 *
 * Rows whose times lie more than 2^53 units from the first of their `TableWrite` begin another one, since the times of one are offsets
 * from one base; so do rows beyond `WRITE_ROWS_MAX`.
 */
import { assert } from "../../base/assert.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { ColumnDefinition } from "../schema.ts";
import { TagKeys } from "../tag-keys.ts";
import type { FieldWrite, TableWrite, WriteBatch } from "../write-batch.ts";

/** A column that rows give a value for, in the order of the values. */
export type RowColumn = Pick<ColumnDefinition, "name" | "type" | "semantic">;

/** Rows of one `TableWrite`. Reason: columns of that many are made in a few milliseconds, so that none is left for the end. */
const WRITE_ROWS_MAX = 65_536;

/** Collects rows of one table. */
export class RowBatchBuilder {
  private readonly table: string;
  private readonly columns: readonly RowColumn[];
  private readonly timePosition: number;
  private readonly timeUnit: TimeUnit;
  private readonly tagPositions: readonly number[];
  private readonly tagKeys: TagKeys;
  private readonly writes: TableWrite[] = [];
  private keys: number[] = [];
  private times: bigint[] = [];
  private fields: Scalar[][] = [];
  private rows = 0;

  /** @param columns exactly one is the time index */
  constructor(table: string, columns: readonly RowColumn[]) {
    this.table = table;
    this.columns = columns;
    this.timePosition = columns.findIndex((column) => column.semantic === "timestamp");
    const type = columns[this.timePosition]?.type;
    assert(type?.kind === "timestamp", `one column of ${table} is its time index`);
    this.timeUnit = type.unit;
    this.tagPositions = columns.flatMap(({ semantic }, i) => (semantic === "tag" ? [i] : []));
    this.tagKeys = new TagKeys(
      table,
      this.tagPositions.map((i) => columns[i]?.name ?? ""),
    );
    this.fields = columns.map(() => []);
  }

  /** Rows added. */
  get rowCount(): number {
    return this.rows;
  }

  /** Adds a row: one value a column. Tags are text (`tagText`), or NULL whatever their default. Times are not NULL. */
  add(values: readonly Scalar[]): void {
    const time = values[this.timePosition];
    assert(typeof time === "bigint", `a time of the time index; got ${String(time)}`);
    const first = this.times[0];
    if (first !== undefined && Math.abs(Number(time - first)) >= CHUNK_TIME_SPAN_MAX) this.cut();
    if (this.times.length === WRITE_ROWS_MAX) this.cut();
    this.times.push(time);
    this.keys.push(this.keyOf(values));
    for (const [i, { semantic }] of this.columns.entries()) if (semantic === "field") this.fields[i]?.push(values[i]);
    this.rows++;
  }

  /** The batch. The builder is used up. */
  batch(): WriteBatch {
    this.cut();
    return { dictionary: this.tagKeys.dictionary, tables: this.writes };
  }

  private keyOf(values: readonly Scalar[]): number {
    return this.tagKeys.keyOf(
      this.tagPositions.map((i) => {
        const value = values[i];
        assert(value === undefined || typeof value === "string", `the text of tag ${this.columns[i]?.name}; got ${typeof value}`);
        return value;
      }),
    );
  }

  private cut(): void {
    if (this.times.length === 0) return;
    const times = vectorOf({ kind: "timestamp", unit: this.timeUnit }, this.times);
    assert(times.kind === "time", "timestamps make a time vector");
    const fields = this.columns.flatMap(({ name, type, semantic }, i): FieldWrite[] =>
      semantic === "field" ? [{ name, type, vector: vectorOf(type, this.fields[i] ?? []) }] : [],
    );
    this.writes.push({
      table: this.table,
      rowCount: this.times.length,
      keys: Uint32Array.from(this.keys),
      timeUnit: this.timeUnit,
      times,
      fields,
    });
    this.keys = [];
    this.times = [];
    this.fields = this.columns.map(() => []);
  }
}
