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

/** Values that are read between two turns of others: a millisecond or two. */
const VALUES_AT_ONCE = 4096;

/** The schema message of a statement's parameters; text where its place tells no type, which then takes anything as text. */
export function parameterSchema(types: readonly (DataType | undefined)[]): Uint8Array<ArrayBuffer> {
  const known = types.map((type) => (type === undefined || type.kind === "null" ? STRING : type));
  return encodeArrowSchema(known.map((type, i) => ({ name: `$${i + 1}`, type })));
}

/** Values of one run of a statement. */
export type ParameterRow = readonly ParameterValue[];

/**
 * Rows of parameters, some at a time.
 *
 * @throws DbError InvalidArguments for another number of columns than the statement has parameters
 */
export async function* parameterRows({ columns, batches }: ArrowInput, count: number): AsyncGenerator<readonly ParameterRow[]> {
  if (columns.length !== count) {
    const why = `the statement has ${count} parameters, but ${columns.length} values were given`;
    throw new DbError(StatusCode.InvalidArguments, `Invalid request parameter: ${why}`);
  }
  const step = Math.max(1, Math.floor(VALUES_AT_ONCE / Math.max(1, count)));
  for await (const batch of batches)
    for (let from = 0; from < batch.rowCount; from += step) yield rowsOf(batch, columns, from, Math.min(from + step, batch.rowCount));
}

function rowsOf({ vectors }: Batch, columns: readonly InputColumn[], from: number, to: number): readonly ParameterRow[] {
  const rows: ParameterValue[][] = Array.from({ length: to - from }, () => []);
  for (const [i, { type }] of columns.entries()) {
    const vector = vectors[i];
    for (let row = from; row < to; row++) {
      const value = vector === undefined ? undefined : scalarAt(vector, type, row);
      // Bytes lie on what was received, which goes.
      rows[row - from]?.push({ type, value: value instanceof Uint8Array ? value.slice() : value });
    }
  }
  return rows;
}

/** Bytes that a row of values takes while it is kept. */
export function bytesOfRow(values: ParameterRow): number {
  let bytes = 0;
  for (const { value } of values) {
    const length = typeof value === "string" ? 2 * value.length : value instanceof Uint8Array ? value.length : 0;
    bytes += BYTES_PER_VALUE + length;
  }
  return bytes;
}
