/** Parameters of prepared statements: their schema, and rows of an Arrow stream as values. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type Batch } from "../../../column/batch.ts";
import { type DataType, STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import type { ParameterValue } from "../../../query/prepared-query.ts";
import type { ArrowInput, InputColumn } from "./arrow-input.ts";

/** Bytes that a value takes besides its text or its bytes. */
const BYTES_PER_VALUE = 64;

/** The schema message of a statement's parameters; text where its place tells no type, which then takes anything as text. */
export function parameterSchema(types: readonly (DataType | undefined)[]): Uint8Array<ArrayBuffer> {
  const known = types.map((type) => (type === undefined || type.kind === "null" ? STRING : type));
  return encodeArrowSchema(known.map((type, i) => ({ name: `$${i + 1}`, type })));
}

/**
 * Rows of parameters, one after another.
 *
 * @throws DbError InvalidArguments for another number of columns than the statement has parameters
 */
export async function* parameterRows({ columns, batches }: ArrowInput, count: number): AsyncGenerator<readonly ParameterValue[]> {
  if (columns.length !== count) {
    const why = `the statement has ${count} parameters, but ${columns.length} values were given`;
    throw new DbError(StatusCode.InvalidArguments, `Invalid request parameter: ${why}`);
  }
  for await (const batch of batches)
    for (let row = 0; row < batch.rowCount; row++) yield columns.map((column, i) => valueOf(batch, column, i, row));
}

function valueOf({ vectors }: Batch, { type }: InputColumn, column: number, row: number): ParameterValue {
  const vector = vectors[column];
  return { type, value: vector === undefined ? undefined : scalarAt(vector, type, row) };
}

/** Bytes that a row of values takes while it is kept. */
export function bytesOfRow(values: readonly ParameterValue[]): number {
  let bytes = 0;
  for (const { value } of values) {
    const length = typeof value === "string" ? 2 * value.length : value instanceof Uint8Array ? value.length : 0;
    bytes += BYTES_PER_VALUE + length;
  }
  return bytes;
}
