/**
 * Reads column index, offset index and page sums of one chunk into a `PageIndex`.
 *
 * Source: Apache Parquet, PageIndex.md.
 */
import { readWideDecimal } from "../../../column/decimal.ts";
import { FIXED_BYTES, PhysicalType, storedScale } from "../schema/physical-type.ts";
import { type ThriftReader, ThriftType } from "../thrift/thrift-compact.ts";
import type { PageIndex, ParquetColumn } from "../types.ts";

/** The offset index: arrays by page. */
export interface OffsetIndex {
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  /** First row of each page, without the end. */
  readonly firstRows: Float64Array;
}

/** Reads an offset index. @throws DbError StorageUnavailable */
export function decodeOffsetIndex(reader: ThriftReader): OffsetIndex {
  let offsets = new Float64Array(0);
  let lengths = new Uint32Array(0);
  let firstRows = new Float64Array(0);
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id !== 1) {
      reader.skip();
      continue;
    }
    const size = reader.list(ThriftType.Struct);
    offsets = new Float64Array(size);
    lengths = new Uint32Array(size);
    firstRows = new Float64Array(size);
    for (let page = 0; page < size; page++) {
      reader.open();
      for (let field = reader.field(); field !== 0; field = reader.field()) {
        if (field === 1) offsets[page] = reader.size();
        else if (field === 2) lengths[page] = reader.size();
        else if (field === 3) firstRows[page] = reader.size();
        else reader.skip();
      }
    }
  }
  return { offsets, lengths, firstRows };
}

/** The column index: arrays by page. */
export interface ColumnIndex {
  readonly mins: readonly Uint8Array[];
  readonly maxs: readonly Uint8Array[];
  readonly nullPages: readonly boolean[];
  readonly nullCounts: readonly number[];
}

/** Reads a column index. @throws DbError StorageUnavailable */
export function decodeColumnIndex(reader: ThriftReader): ColumnIndex {
  let mins: Uint8Array[] = [];
  let maxs: Uint8Array[] = [];
  let nullPages: boolean[] = [];
  let nullCounts: number[] = [];
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) nullPages = elements(reader, ThriftType.True, () => reader.elementBool());
    else if (id === 2) mins = elements(reader, ThriftType.Binary, () => reader.elementBinary());
    else if (id === 3) maxs = elements(reader, ThriftType.Binary, () => reader.elementBinary());
    else if (id === 5) nullCounts = elements(reader, ThriftType.I64, () => reader.elementInt());
    else reader.skip();
  }
  return { mins, maxs, nullPages, nullCounts };
}

function elements<T>(reader: ThriftReader, type: number, read: () => T): T[] {
  const size = reader.list(type);
  const list: T[] = [];
  for (let i = 0; i < size; i++) list.push(read());
  return list;
}

type Bounds = Pick<PageIndex, "mins" | "maxs" | "wideMins" | "wideMaxs" | "byteMins" | "byteMaxs">;

const NO_BOUNDS: Bounds = {
  mins: undefined,
  maxs: undefined,
  wideMins: undefined,
  wideMaxs: undefined,
  byteMins: undefined,
  byteMaxs: undefined,
};

/** Decodes the bounds of `pageCount` pages; a page without values has NaN or undefined. */
export function decodeBounds(
  column: ParquetColumn,
  physical: number,
  index: ColumnIndex,
  pageCount: number,
  fail: (why: string) => never,
): Bounds {
  if (index.mins.length !== pageCount || index.maxs.length !== pageCount || index.nullPages.length !== pageCount) {
    fail(`bounds of ${index.mins.length} pages where there are ${pageCount}`);
  }
  if (physical === PhysicalType.ByteArray) {
    const bound = (value: Uint8Array, page: number): Uint8Array | undefined => (index.nullPages[page] === true ? undefined : value);
    return { ...NO_BOUNDS, byteMins: index.mins.map(bound), byteMaxs: index.maxs.map(bound) };
  }
  if (physical === PhysicalType.FixedBytes) return fixedBounds(index, pageCount, fail);
  if (physical !== PhysicalType.Int64) {
    const mins = new Float64Array(pageCount);
    const maxs = new Float64Array(pageCount);
    for (let page = 0; page < pageCount; page++) {
      const isNull = index.nullPages[page] === true;
      mins[page] = isNull ? Number.NaN : narrowBound(column, physical, index.mins[page]!, fail);
      maxs[page] = isNull ? Number.NaN : narrowBound(column, physical, index.maxs[page]!, fail);
    }
    return { ...NO_BOUNDS, mins, maxs };
  }
  return wideBounds(column, index, pageCount, fail);
}

function viewOf(bound: Uint8Array, byteLength: number, fail: (why: string) => never): DataView {
  if (bound.length !== byteLength) fail(`a bound of ${bound.length} bytes where ${byteLength} belong`);
  return new DataView(bound.buffer, bound.byteOffset, byteLength);
}

function narrowBound(column: ParquetColumn, physical: number, bound: Uint8Array, fail: (why: string) => never): number {
  switch (physical) {
    case PhysicalType.Boolean:
      return viewOf(bound, 1, fail).getUint8(0);
    case PhysicalType.Int32: {
      const view = viewOf(bound, 4, fail);
      const stored = column.type.kind === "int" && !column.type.signed ? view.getUint32(0, true) : view.getInt32(0, true);
      return stored / storedScale(column);
    }
    case PhysicalType.Float:
      return viewOf(bound, 4, fail).getFloat32(0, true);
    default:
      return viewOf(bound, 8, fail).getFloat64(0, true);
  }
}

function wideBounds(column: ParquetColumn, index: ColumnIndex, pageCount: number, fail: (why: string) => never): Bounds {
  const unsigned = column.type.kind === "int" && !column.type.signed;
  const scale = BigInt(storedScale(column));
  const wideMins = unsigned ? new BigUint64Array(pageCount) : new BigInt64Array(pageCount);
  const wideMaxs = unsigned ? new BigUint64Array(pageCount) : new BigInt64Array(pageCount);
  const mins = new Float64Array(pageCount).fill(Number.NaN);
  const maxs = new Float64Array(pageCount).fill(Number.NaN);
  for (let page = 0; page < pageCount; page++) {
    if (index.nullPages[page] === true) continue;
    const min = viewOf(index.mins[page]!, 8, fail).getBigInt64(0, true) / scale;
    const max = viewOf(index.maxs[page]!, 8, fail).getBigInt64(0, true) / scale;
    wideMins[page] = min;
    wideMaxs[page] = max;
    mins[page] = roundedDown(wideMins[page]!);
    maxs[page] = roundedUp(wideMaxs[page]!);
  }
  return { ...NO_BOUNDS, mins, maxs, wideMins, wideMaxs };
}

function fixedBounds(index: ColumnIndex, pageCount: number, fail: (why: string) => never): Bounds {
  const mins = new Float64Array(pageCount).fill(Number.NaN);
  const maxs = new Float64Array(pageCount).fill(Number.NaN);
  const valueOf = (bound: Uint8Array): bigint => {
    if (bound.length !== FIXED_BYTES) fail(`a bound of ${bound.length} bytes where ${FIXED_BYTES} belong`);
    return readWideDecimal(bound, 0);
  };
  for (let page = 0; page < pageCount; page++) {
    if (index.nullPages[page] === true) continue;
    mins[page] = roundedDown(valueOf(index.mins[page]!));
    maxs[page] = roundedUp(valueOf(index.maxs[page]!));
  }
  return { ...NO_BOUNDS, mins, maxs };
}

/** The largest double at or below `value`. */
function roundedDown(value: bigint): number {
  const nearest = Number(value);
  return BigInt(nearest) > value ? neighbour(nearest, -1) : nearest;
}

/** The smallest double at or above `value`. */
function roundedUp(value: bigint): number {
  const nearest = Number(value);
  return BigInt(nearest) < value ? neighbour(nearest, 1) : nearest;
}

/** The next double of `value`, which is beyond ±2^53, in a direction. */
function neighbour(value: number, direction: 1 | -1): number {
  // 2^-53 of a number is at most its distance to the next one, and more than half of it: adding it rounds to the neighbour or stays.
  const step = Math.abs(value) * 2 ** -53;
  const next = value + direction * step;
  return next === value ? value + direction * step * 2 : next;
}
