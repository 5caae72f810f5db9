/** Rows → the bytes of a Parquet file, a row group at a time: memory is one row group, whatever the file's size. */
import { plainText, textLength } from "../../column/coded-text.ts";
import { invalidArguments } from "../../base/error.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type DataType, STRING } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { BytesVector, Vector } from "../../column/vector.ts";
import type { SchemaNode } from "../../format/parquet/footer/file-metadata-writer.ts";
import { type GroupInput, GroupWriter } from "../../format/parquet/groups/group-writer.ts";
import { isGrouped, Shredder } from "../../format/parquet/groups/shredder.ts";
import type { ColumnInput, ParquetColumn } from "../../format/parquet/types.ts";
import { ParquetWriter } from "../../format/parquet/writing/writer.ts";
import { HeldRows } from "../operator/rows/held-rows.ts";
import type { MemoryBudget } from "../../base/memory/memory-budget.ts";
import { inTurns, type PacedWork } from "../../base/scheduler/pace.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Bytes } from "./compression.ts";
import { ROW_GROUP_BYTES, ROW_GROUP_ROWS } from "./limits.ts";

/** Memory that a byte of a nested value takes while it is taken apart: an element of 9 bytes becomes a value, a slot and levels. */
const SHREDDED_BYTES = 4;

/** What writing a file goes by: its memory, and the turns of others. */
export interface EncodingWork extends PacedWork {
  readonly budget: MemoryBudget;
}

/** Takes row groups of columns, a column a step. */
interface RowGroupWriter {
  append(rowCount: number, vectors: readonly Vector[]): Iterator<void, unknown>;
  finish(): Iterator<void, unknown>;
}

/**
 * A Parquet file of rows.
 *
 * @throws DbError InvalidArguments when two columns have one name, or one has a type that Parquet has not
 */
export async function* encodeParquet(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, work: EncodingWork): Bytes {
  const seen = new Set<string>();
  const twice = headers.find(({ name }) => seen.size === seen.add(name).size);
  if (twice !== undefined) {
    const why = `two columns are called ${twice.name}; give one an alias`;
    throw invalidArguments(`cannot write Parquet: ${why}`);
  }
  const parts: Uint8Array[] = [];
  const sink = { write: (bytes: Uint8Array) => void parts.push(bytes.slice()) };
  const writer = headers.some(({ type }) => isGrouped(type)) ? groupedRows(headers, sink) : plainRows(headers, sink);
  let held = new HeldRows(headers, work.budget);
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (held.rowCount > 0) {
      const { rowCount, vectors } = held.joined();
      await inTurns(writer.append(rowCount, vectors), work);
      held.keep(new Uint32Array(0), 0); // Gives the memory back to the budget.
    }
    held = new HeldRows(headers, work.budget);
    bytes = 0;
  };
  for await (const batch of batches) {
    if (batch.rowCount === 0) continue;
    held.add(batch);
    for (const [i, { type }] of headers.entries()) bytes += bytesOf(batch.vectors[i], type, batch.rowCount);
    if (held.rowCount < ROW_GROUP_ROWS && bytes < ROW_GROUP_BYTES) continue;
    await flush();
    yield* parts.splice(0);
  }
  await flush();
  await inTurns(writer.finish(), work);
  yield* parts.splice(0);
}

type Sink = ConstructorParameters<typeof ParquetWriter>[1];

function plainRows(headers: readonly ColumnHeader[], sink: Sink): RowGroupWriter {
  const writer = new ParquetWriter(headers.map(plainColumn), sink);
  return {
    append: (rowCount, vectors) =>
      writer.appendInSteps(
        rowCount,
        headers.map(({ type }, c) => inputOf(vectors[c], type, rowCount)),
      ),
    finish: () => writer.finishInSteps({}),
  };
}

function groupedRows(headers: readonly ColumnHeader[], sink: Sink): RowGroupWriter {
  const nodes: SchemaNode[] = [];
  const columns: ParquetColumn[] = [];
  const shredders = headers.map((header): Shredder | undefined => {
    if (!isGrouped(header.type)) {
      nodes.push({ kind: "leaf", name: header.name, isRequired: false, column: columns.push(plainColumn(header)) - 1 });
      return undefined;
    }
    const shredder = new Shredder(header.name, header.type, columns.length);
    nodes.push(shredder.node);
    columns.push(...shredder.columns);
    return shredder;
  });
  const writer = new GroupWriter(nodes, columns, sink);
  return {
    append(rowCount, vectors) {
      const inputs = headers.flatMap(({ type }, c): readonly GroupInput[] => {
        const shredder = shredders[c];
        const vector = vectors[c];
        if (shredder === undefined || vector === undefined) return [{ kind: "rows", input: inputOf(vector, type, rowCount) }];
        return entriesOf(shredder, vector, type, rowCount);
      });
      return writer.appendInSteps(rowCount, inputs);
    },
    finish: () => writer.finishInSteps(),
  };
}

function entriesOf(shredder: Shredder, vector: Vector, type: DataType, rowCount: number): readonly GroupInput[] {
  for (let row = 0; row < rowCount; row++) {
    const value = scalarAt(vector, type, row);
    shredder.add(value instanceof Uint8Array ? value : undefined);
  }
  return shredder.take().map((rows): GroupInput => ({ kind: "entries", rows }));
}

function plainColumn({ name, type }: ColumnHeader): ParquetColumn {
  return { name, type: storedType(type), nullable: true, role: "field" };
}

/** Columns that hold nothing but NULL have no type of their own. */
function storedType(type: DataType): DataType {
  return type.kind === "null" ? STRING : type;
}

function bytesOf(vector: Vector | undefined, type: DataType, rowCount: number): number {
  if (vector?.kind === "coded") return textLength(vector, 0, rowCount) + rowCount * 4;
  if (vector?.kind !== "bytes") return rowCount * 8;
  const bytes = (vector.offsets[rowCount] ?? 0) - (vector.offsets[0] ?? 0);
  return isGrouped(type) ? bytes * SHREDDED_BYTES : bytes;
}

/** What the writer takes: texts as bytes. */
function inputOf(vector: Vector | undefined, type: DataType, rowCount: number): ColumnInput {
  if (vector === undefined || type.kind === "null") return allNull(rowCount, type);
  return plainInput(vector, rowCount);
}

/** Vectors of codes as bytes. */
function plainInput(vector: Vector, rowCount: number): ColumnInput {
  if (vector.kind === "coded") return plainText(vector, rowCount);
  return vector.kind === "dictionary" ? textsOf(vector, rowCount) : vector;
}

function allNull(rowCount: number, type: DataType): ColumnInput {
  const made = vectorOf(storedType(type), new Array<undefined>(rowCount).fill(undefined));
  return plainInput(made, rowCount);
}

function textsOf({ codes, dictionary }: Extract<Vector, { kind: "dictionary" }>, rowCount: number): BytesVector {
  const encoder = new TextEncoder();
  const texts = new Map<number, Uint8Array>();
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    let text = texts.get(code);
    if (text === undefined) texts.set(code, (text = encoder.encode(dictionary[code] ?? "")));
    length += text.length;
  }
  const offsets = new Uint32Array(rowCount + 1);
  const bytes = new Uint8Array(length);
  const validity = new Uint8Array(rowCount);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    const text = texts.get(code);
    if (text !== undefined) bytes.set(text, at);
    at += text?.length ?? 0;
    offsets[row + 1] = at;
    validity[row] = dictionary[code] === undefined ? 0 : 1;
  }
  return { kind: "bytes", offsets, bytes, validity };
}
