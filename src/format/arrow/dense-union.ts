/**
 * A stream whose last column is a dense union: each of its values lies in the child that its type number names, as the schema of Flight
 * SQL's server information wants it.
 *
 *   field     children of the union, numbered from 0 in their order
 *   buffers   type numbers (1 byte a row), positions in the child (4 bytes a row), then those of the children
 *
 * Source: arrow.apache.org/docs/format/Columnar.html, "Dense Union". A union has no validity of its own.
 */
import { assert } from "../../base/assert.ts";
import type { Batch } from "../../column/batch.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { columnParts, type ColumnPart } from "./column-parts.ts";
import { arrowMessage, framedMessage, HEADER, pad8 } from "./encode-stream.ts";
import { type ArrowField, writeField } from "./field-type.ts";
import { FlatBufferWriter } from "./flatbuffer.ts";

/** Number of the union in the union `Type`, and of dense ones in `UnionMode`. */
const TYPE_UNION = 14;
const DENSE = 1;

/** Plain columns, then a union. */
export interface UnionColumns {
  readonly plain: readonly ArrowField[];
  readonly union: { readonly name: string; readonly children: readonly ArrowField[] };
}

/** A value of the union: the place of its child, and what it is there. */
export interface UnionValue {
  readonly child: number;
  readonly value: Scalar;
}

/** The schema message. */
export function encodeUnionSchema({ plain, union }: UnionColumns): Uint8Array<ArrayBuffer> {
  const writer = new FlatBufferWriter();
  const before = plain.map((field) => writeField(writer, field));
  const children = writer.offsets(union.children.map((field) => writeField(writer, field)));
  const name = writer.text(union.name);
  // Numbers from 0 on are the default, but arrow-java reads none where they are left out.
  const numbers = writer.numbers(union.children.map((_, i) => i));
  const type = writer.table([
    { slot: 0, kind: "i16", value: DENSE },
    { slot: 1, kind: "offset", value: numbers },
  ]);
  const last = writer.table([
    { slot: 0, kind: "offset", value: name },
    { slot: 1, kind: "u8", value: 1 },
    { slot: 2, kind: "u8", value: TYPE_UNION },
    { slot: 3, kind: "offset", value: type },
    { slot: 5, kind: "offset", value: children },
  ]);
  const fields = writer.offsets([...before, last]);
  const schema = writer.table([
    { slot: 0, kind: "i16", value: 0 }, // little-endian
    { slot: 1, kind: "offset", value: fields },
  ]);
  return framedMessage(arrowMessage(writer, HEADER.Schema, schema, [], 0));
}

/** One record batch. @param batch of the plain columns @param values of the union, one a row */
export function encodeUnionBatch({ plain, union }: UnionColumns, batch: Batch, values: readonly UnionValue[]): Uint8Array<ArrayBuffer> {
  assert(values.length === batch.rowCount, `a union has a value a row; got ${values.length} for ${batch.rowCount} rows`);
  const parts: ColumnPart[] = [];
  for (const [i, { type }] of plain.entries()) {
    const vector = batch.vectors[i];
    assert(vector !== undefined, "a batch has a vector a column");
    parts.push(...columnParts(type, vector, batch.rowCount));
  }
  parts.push(...unionParts(union.children, values));
  const body = parts.flatMap(({ buffers }) => buffers);
  const places: [number, number][] = [];
  let length = 0;
  for (const buffer of body) {
    places.push([length, buffer.length]);
    length += pad8(buffer.length);
  }
  const writer = new FlatBufferWriter();
  const buffersAt = writer.pairs(places);
  const nodesAt = writer.pairs(parts.map(({ rowCount, nullCount }) => [rowCount, nullCount]));
  const record = writer.table([
    { slot: 0, kind: "i64", value: BigInt(batch.rowCount) },
    { slot: 1, kind: "offset", value: nodesAt },
    { slot: 2, kind: "offset", value: buffersAt },
  ]);
  return framedMessage(arrowMessage(writer, HEADER.RecordBatch, record, body, length));
}

/** The union's own part, then its children's. */
function unionParts(children: readonly ArrowField[], values: readonly UnionValue[]): readonly ColumnPart[] {
  const numbers = Uint8Array.from(values, ({ child }) => child);
  const positions = new Int32Array(values.length);
  const lists: Scalar[][] = children.map(() => []);
  for (const [row, { child, value }] of values.entries()) {
    const list = lists[child];
    assert(list !== undefined, `a value of a union lies in one of its children; got ${child}`);
    positions[row] = list.length;
    list.push(value);
  }
  const own: ColumnPart = { rowCount: values.length, nullCount: 0, buffers: [numbers, new Uint8Array(positions.buffer)] };
  return [own, ...children.flatMap(({ type }, i) => columnParts(type, vectorOf(type, lists[i] ?? []), lists[i]?.length ?? 0))];
}
