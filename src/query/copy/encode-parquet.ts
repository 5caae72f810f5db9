/** Rows → the bytes of a Parquet file, a row group at a time: memory is one row group, whatever the file's size. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type DataType, isNested, type NestedType, STRING } from "../../column/data-type.ts";
import { nestedJson } from "../../column/nested-json.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { BytesVector, Vector } from "../../column/vector.ts";
import type { ColumnInput, ParquetColumn } from "../../format/parquet/types.ts";
import { ParquetWriter } from "../../format/parquet/writer.ts";
import { HeldRows } from "../exec/held-rows.ts";
import type { MemoryBudget } from "../exec/memory-budget.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Bytes } from "./compression.ts";
import { ROW_GROUP_BYTES, ROW_GROUP_ROWS } from "./limits.ts";

/**
 * A Parquet file of rows.
 *
 * @throws DbError InvalidArguments when two columns have one name
 */
export async function* encodeParquet(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, budget: MemoryBudget): Bytes {
  const twice = headers.find(({ name }, i) => headers.findIndex((other) => other.name === name) !== i);
  if (twice !== undefined) {
    const why = `two columns are called ${twice.name}; give one an alias`;
    throw new DbError(StatusCode.InvalidArguments, `cannot write Parquet: ${why}`);
  }
  const parts: Uint8Array[] = [];
  const columns = headers.map(({ name, type }): ParquetColumn => ({ name, type: storedType(type), nullable: true, role: "field" }));
  const writer = new ParquetWriter(columns, { write: (bytes) => void parts.push(bytes.slice()) });
  let held = new HeldRows(headers, budget);
  let bytes = 0;
  const flush = (): void => {
    if (held.rowCount > 0) {
      const { rowCount, vectors } = held.joined();
      writer.append(
        rowCount,
        headers.map(({ type }, c) => inputOf(vectors[c], type, rowCount)),
      );
      held.keep(new Uint32Array(0), 0); // Gives the memory back to the budget.
    }
    held = new HeldRows(headers, budget);
    bytes = 0;
  };
  for await (const batch of batches) {
    if (batch.rowCount === 0) continue;
    held.add(batch);
    bytes += batch.vectors.reduce((sum, vector) => sum + bytesOf(vector, batch.rowCount), 0);
    if (held.rowCount < ROW_GROUP_ROWS && bytes < ROW_GROUP_BYTES) continue;
    flush();
    yield* parts.splice(0);
  }
  flush();
  writer.finish({});
  yield* parts.splice(0);
}

/** Columns that hold nothing but NULL have no type of their own; lists, structs and maps become JSON text. */
function storedType(type: DataType): DataType {
  return type.kind === "null" || isNested(type) ? STRING : type;
}

function bytesOf(vector: Vector, rowCount: number): number {
  return vector.kind === "bytes" ? (vector.offsets[rowCount] ?? 0) - (vector.offsets[0] ?? 0) : rowCount * 8;
}

/** What the writer takes: texts as bytes. */
function inputOf(vector: Vector | undefined, type: DataType, rowCount: number): ColumnInput {
  if (vector === undefined || type.kind === "null") return allNull(rowCount, type);
  if (isNested(type)) return jsonOf(vector, type, rowCount);
  return vector.kind === "dictionary" ? textsOf(vector, rowCount) : vector;
}

function jsonOf(vector: Vector, type: NestedType, rowCount: number): ColumnInput {
  const texts = Array.from({ length: rowCount }, (_, row) => {
    const value = scalarAt(vector, type, row);
    return value instanceof Uint8Array ? nestedJson(type, value) : undefined;
  });
  const made = vectorOf(STRING, texts);
  return made.kind === "dictionary" ? textsOf(made, rowCount) : made;
}

function allNull(rowCount: number, type: DataType): ColumnInput {
  const made = vectorOf(storedType(type), new Array<undefined>(rowCount).fill(undefined));
  return made.kind === "dictionary" ? textsOf(made, rowCount) : made;
}

function textsOf({ codes, dictionary }: Extract<Vector, { kind: "dictionary" }>, rowCount: number): BytesVector {
  const encoder = new TextEncoder();
  const texts = new Map<number, Uint8Array>();
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] ?? 0;
    let text = texts.get(code);
    if (text === undefined) texts.set(code, (text = encoder.encode(dictionary[code] ?? "")));
    length += text.length;
  }
  const offsets = new Uint32Array(rowCount + 1);
  const bytes = new Uint8Array(length);
  const validity = new Uint8Array(rowCount);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] ?? 0;
    const text = texts.get(code);
    if (text !== undefined) bytes.set(text, at);
    at += text?.length ?? 0;
    offsets[row + 1] = at;
    validity[row] = dictionary[code] === undefined ? 0 : 1;
  }
  return { kind: "bytes", offsets, bytes, validity };
}
