/**
 * Copies one table's rows of a batch into a chunk. Two passes a column: find the narrowest element class, then copy. All arrays of the
 * chunk share one allocation, so the log writes it with one buffer.
 */
import { assert } from "../../base/assert.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import type { Arena } from "./arena.ts";
import type { Chunk, ChunkColumn, ChunkValues, SeriesArray } from "./chunk.ts";
import { repeatedColumns } from "./repeated-bytes.ts";
import { align8, ElementClass, elementBytes, numberArrayOn } from "./chunk-layout.ts";
import { copyNumbers, copyTimeSteps, integerClassOf, stepClassOf, type TimeShape, timeShapeOf } from "./narrow.ts";

/** One column to copy. `type` is the column's type in the table. */
export interface ColumnSource {
  readonly columnId: number;
  readonly type: DataType;
  readonly vector: Vector;
}

/** Rows to copy; all arrays hold at least `rowCount` rows and are borrowed until the call returns. */
export interface ChunkSource {
  readonly sequence: number;
  readonly rowCount: number;
  /** Series number of each row. */
  readonly series: Uint32Array;
  /** Largest element of `series`. */
  readonly seriesMax: number;
  readonly timeBase: bigint;
  /** Offsets from `timeBase`; all within 2^53 of each other. */
  readonly timeOffsets: Float64Array;
  readonly columns: readonly ColumnSource[];
}

interface Placed {
  readonly source: ColumnSource;
  readonly element: ElementClass;
  readonly offset: number;
  readonly validityOffset: number;
  /** Bytes vectors only: where the text starts and its length. */
  readonly textOffset: number;
  readonly textBytes: number;
  /** Whether all rows have the same bytes, which are stored once then. */
  readonly repeated: boolean;
}

/** Copies the rows into memory from `arena`. */
export function buildChunk(source: ChunkSource, arena: Arena): Chunk {
  const { rowCount } = source;
  assert(rowCount > 0, `a chunk has rows; got ${rowCount}`);
  const shape = timeShapeOf(source.timeOffsets, rowCount);
  const span = shape.max - shape.min;
  assert(span <= Number.MAX_SAFE_INTEGER, `times of a chunk lie within 2^53 units; got ${span}`);
  const seriesClass = source.seriesMax < 0x1_0000 ? ElementClass.u16 : ElementClass.u32;
  const timeSteps = span / shape.scale;
  const timeClass = stepClassOf(timeSteps);

  const timesOffset = align8(rowCount * elementBytes(seriesClass));
  let end = timesOffset + align8(rowCount * elementBytes(timeClass));
  const placed: Placed[] = [];
  const repeated = repeatedColumns(source.columns, rowCount);
  for (const [c, column] of source.columns.entries()) {
    const place = placeColumn(column, rowCount, end, repeated.has(c));
    placed.push(place.placed);
    end = place.end;
  }

  const { buffer, offset } = arena.allocate(end);
  const series = numberArrayOn(buffer, seriesClass, offset, rowCount) as SeriesArray;
  copyNumbers(source.series, rowCount, series);
  const times = copyTimes(buffer, offset + timesOffset, timeClass, source.timeOffsets, rowCount, shape);
  const columns: ChunkColumn[] = placed.map((place) => ({
    columnId: place.source.columnId,
    data: copyColumn(place, buffer, offset, rowCount),
  }));
  return {
    sequence: source.sequence,
    rowCount,
    series,
    timeBase: source.timeBase + BigInt(shape.min),
    timeScale: shape.scale,
    times,
    timeSteps,
    columns,
    payload: new Uint8Array(buffer, offset, end),
  };
}

function copyTimes(
  buffer: SharedArrayBuffer,
  offset: number,
  element: ElementClass,
  offsets: Float64Array,
  count: number,
  shape: TimeShape,
): Chunk["times"] {
  const times = numberArrayOn(buffer, element, offset, count) as Chunk["times"];
  copyTimeSteps(offsets, count, shape, times);
  return times;
}

function elementClassFor(column: ColumnSource, rowCount: number): ElementClass {
  const { vector, type } = column;
  switch (vector.kind) {
    case "number":
      if (type.kind === "float") return type.bits === 32 ? ElementClass.f32 : ElementClass.f64;
      return integerClassOf(vector.values, rowCount);
    case "wide":
      return vector.values instanceof BigInt64Array ? ElementClass.i64 : ElementClass.u64;
    case "time":
      return ElementClass.f64;
    case "bytes":
      return ElementClass.u32;
    case "dictionary":
    case "coded":
      assert(false, "a field that is written is never a vector of codes");
  }
}

function placeColumn(column: ColumnSource, rowCount: number, start: number, repeated: boolean): { placed: Placed; end: number } {
  const { vector } = column;
  if (repeated && vector.kind === "bytes") {
    const textBytes = vector.offsets[1]! - vector.offsets[0]!;
    const at = { element: ElementClass.u8, offset: start, validityOffset: start, textOffset: start };
    return { placed: { source: column, ...at, textBytes, repeated }, end: start + align8(textBytes) };
  }
  const element = elementClassFor(column, rowCount);
  const length = vector.kind === "bytes" ? rowCount + 1 : rowCount;
  let end = start + align8(length * elementBytes(element));
  const textOffset = end;
  const textBytes = vector.kind === "bytes" ? vector.offsets[rowCount]! - vector.offsets[0]! : 0;
  end += align8(textBytes);
  const validityOffset = end;
  if (vector.kind !== "dictionary" && vector.kind !== "coded" && vector.validity !== undefined) end += align8(rowCount);
  return { placed: { source: column, element, offset: start, validityOffset, textOffset, textBytes, repeated }, end };
}

function copyColumn(place: Placed, buffer: SharedArrayBuffer, base: number, rowCount: number): ChunkValues {
  const { vector } = place.source;
  if (vector.kind === "dictionary" || vector.kind === "coded") assert(false, "a field that is written is never a vector of codes");
  let validity: Uint8Array | undefined;
  if (vector.validity !== undefined) {
    validity = new Uint8Array(buffer, base + place.validityOffset, rowCount);
    validity.set(vector.validity.subarray(0, rowCount));
  }
  const at = base + place.offset;
  switch (vector.kind) {
    case "number": {
      const values = numberArrayOn(buffer, place.element, at, rowCount);
      copyNumbers(vector.values, rowCount, values);
      return { kind: "number", values, validity };
    }
    case "wide": {
      const signed = place.element === ElementClass.i64;
      const values = signed ? new BigInt64Array(buffer, at, rowCount) : new BigUint64Array(buffer, at, rowCount);
      values.set(vector.values.subarray(0, rowCount));
      return { kind: "wide", values, validity };
    }
    case "time": {
      const offsets = new Float64Array(buffer, at, rowCount);
      offsets.set(vector.offsets.subarray(0, rowCount));
      return { kind: "time", base: vector.base, offsets, validity };
    }
    case "bytes": {
      const first = vector.offsets[0]!;
      if (place.repeated) {
        const once = new Uint8Array(buffer, base + place.textOffset, place.textBytes);
        once.set(vector.bytes.subarray(first, first + place.textBytes));
        return { kind: "repeated", bytes: once, validity: undefined };
      }
      const offsets = new Uint32Array(buffer, at, rowCount + 1);
      for (let i = 0; i <= rowCount; i++) offsets[i] = vector.offsets[i]! - first;
      const bytes = new Uint8Array(buffer, base + place.textOffset, place.textBytes);
      bytes.set(vector.bytes.subarray(first, first + place.textBytes));
      return { kind: "bytes", offsets, bytes, validity };
    }
  }
}
