/**
 * Columns of extracted attributes that are no tags: only tables have them that were there before their keys were extracted.
 */
import { invalidArguments } from "../../../base/error.ts";
import { type DataType, displayName, sameType } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { FieldWrite } from "../../../table/write-batch.ts";

/** See the file header. As many as the request names keys. */
export class ExtraColumns {
  private columns: Map<string, { readonly type: DataType; readonly values: Scalar[] }> = new Map();

  /** Forgets the rows. */
  reset(): void {
    if (this.columns.size > 0) this.columns = new Map();
  }

  /** Sets a cell. @throws DbError InvalidArguments when the column was set under another type before */
  set(row: number, name: string, type: DataType, value: Scalar): void {
    let column = this.columns.get(name);
    if (column === undefined) {
      column = { type, values: [] };
      this.columns.set(name, column);
    } else if (!sameType(column.type, type)) {
      const types = `expected datatype: ${displayName(column.type)}, actual datatype: ${displayName(type)}`;
      throw invalidArguments(`Column datatype mismatch. For column: ${name}, ${types}`);
    }
    while (column.values.length < row) column.values.push(undefined);
    column.values[row] = value;
  }

  /** The columns of all rows. */
  fields(rowCount: number): FieldWrite[] {
    return Array.from(this.columns, ([name, { type, values }]): FieldWrite => {
      while (values.length < rowCount) values.push(undefined);
      return { name, type, vector: vectorOf(type, values) };
    });
  }
}
