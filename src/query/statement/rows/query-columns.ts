/**
 * Columns of a query's rows → columns of the table that they are for. A vector of the column's own type goes on as it is; others are cast
 * value by value. Errors are those of the rows one after the other, as in `given-columns.ts`.
 */
import { presenceOf } from "../../../column/coded-text.ts";
import { DbError } from "../../../base/error.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { type DataType, sameType, STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import { castInTurns } from "../../expression/row-values.ts";
import type { Value } from "../../function/value/value.ts";
import type { ExecContext } from "../../operator/contract/exec-context.ts";
import type { ColumnValues } from "./column-batch.ts";
import { checkNoNull, completeRow, completeValue, defaultValue, type Given, isCompleteAsItIs, type Target } from "./complete-row.ts";

/** Types whose values a cast to the same type leaves as they are. */
const SAME_WHEN_CAST: ReadonlySet<DataType["kind"]> = new Set([
  "boolean",
  "int",
  "float",
  "string",
  "binary",
  "date",
  "timestamp",
  "time",
  "duration",
  "decimal",
]);

/** Makes columns of the batches of one query. */
export class QueryColumns {
  private readonly target: Target;
  private readonly exec: ExecContext;
  /** Types of the query's columns. */
  private readonly types: readonly DataType[];
  /** For each column of the schema, which of the query's columns it is of; -1 for none. */
  private readonly positions: readonly number[];

  constructor(headers: readonly ColumnHeader[], target: Target, exec: ExecContext) {
    this.target = target;
    this.exec = exec;
    this.types = headers.map(({ type }) => type);
    this.positions = target.schema.columns.map((column) => target.named.indexOf(column));
  }

  /** The columns of some rows, in the order of the schema. @throws DbError of contract query.md 1.6 */
  async of(vectors: readonly Vector[], rowCount: number): Promise<readonly ColumnValues[]> {
    try {
      const columns: ColumnValues[] = [];
      for (const [i, column] of this.target.schema.columns.entries()) {
        const position = this.positions[i] ?? -1;
        const vector = vectors[position];
        if (vector !== undefined && this.isSame(vector, column, position, rowCount)) columns.push(vector);
        else columns.push(await this.valuesOf(vector, column, position, rowCount));
      }
      return columns;
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      await this.rowByRow(vectors, rowCount);
      throw thrown;
    }
  }

  private isSame(vector: Vector, column: ColumnSchema, position: number, rowCount: number): boolean {
    const { nullable, hints, semantic, type, name } = column;
    const from = this.types[position];
    if (vector.kind === "dictionary" || semantic === "tag" || hints !== undefined || from === undefined) return false;
    if (!SAME_WHEN_CAST.has(type.kind) || !sameType(from, type)) return false;
    return (
      (nullable && this.target.neverNull?.has(name) !== true) || presenceOf(vector, rowCount)?.subarray(0, rowCount).includes(0) !== true
    );
  }

  private async valuesOf(vector: Vector | undefined, column: ColumnSchema, position: number, rowCount: number): Promise<readonly Scalar[]> {
    const { target } = this;
    const values: Value[] = [];
    if (position < 0) {
      const value = defaultValue(column, false, target);
      for (let row = 0; row < rowCount; row++) values.push(value);
    } else {
      for (let row = 0; row < rowCount; row++) {
        const value = this.cast(vector, column, position, row);
        values.push(value instanceof Promise ? await value : value);
      }
      if (target.neverNull?.has(column.name) === true && values.includes(undefined))
        checkNoNull([{ value: undefined }], [column], target.neverNull);
    }
    // None is an interval in a column of another type.
    return isCompleteAsItIs(column) ? (values as Scalar[]) : values.map((value) => completeValue(value, column, position >= 0));
  }

  private cast(vector: Vector | undefined, { type }: ColumnSchema, position: number, row: number): Value | Promise<Value> {
    const from = this.types[position] ?? STRING;
    return vector === undefined ? undefined : castInTurns(scalarAt(vector, from, row), from, type, this.target.environment, this.exec);
  }

  /** The rows as they are completed one after the other: throws the first error. */
  private async rowByRow(vectors: readonly Vector[], rowCount: number): Promise<void> {
    const { target } = this;
    const { named, neverNull } = target;
    for (let row = 0; row < rowCount; row++) {
      const given: Given[] = [];
      for (const [i, column] of named.entries()) {
        const value = this.cast(vectors[i], column, i, row);
        given.push({ value: value instanceof Promise ? await value : value });
      }
      if (neverNull !== undefined) checkNoNull(given, named, neverNull);
      completeRow(given, target);
    }
  }
}
