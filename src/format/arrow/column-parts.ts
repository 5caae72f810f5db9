/**
 * A column of a record batch as the columns that Arrow keeps it in: itself, and for lists, structs and maps what they are made of, parents
 * before their children.
 */
import { assert } from "../../base/assert.ts";
import { type DataType, isNested, type NestedType } from "../../column/data-type.ts";
import { intervalText } from "../../value/interval/interval-text.ts";
import { decodeNested, type NestedPart } from "../../column/nested.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { scalarAt } from "../../column/scalar.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { type ColumnBuffers, columnBuffers, validityBits, viewOf } from "./column-buffers.ts";
import { Scratch } from "./scratch.ts";

/** Buffers of one column, with its own number of rows. */
export interface ColumnPart extends ColumnBuffers {
  readonly rowCount: number;
}

/**
 * The columns that rows `[0, rowCount)` of a vector are kept in.
 *
 * @param scratch memory for those that have to be made
 * @throws DbError RuntimeResourcesExhausted (more than 2 GiB of text)
 */
export function columnParts(type: DataType, vector: Vector, rowCount: number, scratch: Scratch = new Scratch()): readonly ColumnPart[] {
  if (!isNested(type)) return [{ rowCount, ...columnBuffers(type, vector, rowCount, scratch) }];
  const values = Array.from({ length: rowCount }, (_, row) => {
    const value = scalarAt(vector, type, row);
    assert(value === undefined || value instanceof Uint8Array, "nested values are bytes");
    return value;
  });
  const parts = values.map((value) => (value === undefined ? undefined : decodeNested(type, value)));
  const validity = Uint8Array.from(parts, (part) => (part === undefined ? 0 : 1));
  const [nullCount, bits] = parts.includes(undefined) ? validityBits(validity, rowCount) : [0, new Uint8Array(0)];
  return [{ rowCount, nullCount, buffers: [bits, ...offsetsOf(type, parts)] }, ...childrenOf(type, parts)];
}

type Rows = readonly (readonly NestedPart[] | undefined)[];

/** Where the elements of each list lie; a struct has none. */
function offsetsOf(type: NestedType, rows: Rows): readonly Uint8Array[] {
  if (type.kind === "struct") return [];
  const offsets = new Uint32Array(rows.length + 1);
  const width = type.kind === "map" ? 2 : 1;
  for (const [row, parts] of rows.entries()) offsets[row + 1] = offsets[row]! + (parts?.length ?? 0) / width;
  return [viewOf(offsets)];
}

function childrenOf(type: NestedType, rows: Rows): readonly ColumnPart[] {
  switch (type.kind) {
    case "list":
      return child(
        type.element,
        rows.flatMap((parts) => parts ?? []),
      );
    case "struct":
      return type.fields.flatMap((field, i) =>
        child(
          field.type,
          rows.map((parts) => parts?.[i]),
        ),
      );
    case "map": {
      const all = rows.flatMap((parts) => parts ?? []);
      const [keys, values] = [0, 1].map((turn) => all.filter((_, i) => i % 2 === turn));
      const entries: ColumnPart = { rowCount: all.length / 2, nullCount: 0, buffers: [new Uint8Array(0)] };
      return [entries, ...child(type.key, keys ?? []), ...child(type.value, values ?? [])];
    }
  }
}

function child(type: DataType, parts: readonly NestedPart[]): readonly ColumnPart[] {
  const scalars = parts.map((part): Scalar => (typeof part === "object" && !(part instanceof Uint8Array) ? intervalText(part) : part));
  return columnParts(type, vectorOf(type, scalars), parts.length);
}
