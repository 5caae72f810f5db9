/**
 * Small chunks to one. A chunk costs 700 B and 220 B a column beside its values (objects and views, measured), which for a request of one
 * row of ten integers is twenty times the row: a memtable of such requests would take a gigabyte where it counts 32 MiB, and a scan would
 * look at each chunk by itself.
 */
import { FLOAT32, FLOAT64, INT64, type DataType } from "../../column/data-type.ts";
import type { NumberArray, Vector } from "../../column/vector.ts";
import type { Arena } from "./arena.ts";
import { type Chunk, type ChunkColumn, type ChunkValues, chunkMaxTime } from "./chunk.ts";
import { buildChunk, type ColumnSource } from "./chunk-builder.ts";
import { fillRepeated } from "./repeated-bytes.ts";

/** Bytes of a chunk and of a column of one, beside the arrays. */
export const CHUNK_OBJECT_BYTES = 700;
export const COLUMN_OBJECT_BYTES = 220;

/** Chunks that are joined at a time. */
const JOINED = 8;
/** Rows from which a chunk is left as it is. */
const ROWS_LARGE = 4096;
/**
 * So is one of this many rows that take ten times its objects: 2,000 samples of remote write, or a third of 10,000 rows of ten integers,
 * as three shards have it. Joining the former was a third of the time that writing them took, 0.06 CPU s a million; three shards took 1.2
 * times the CPU of one while theirs were joined (at twenty times), 1.08 now (medians of 4 and 8 pairs).
 */
const ROWS_LEAN = 1024;
const LEAN_RATIO = 10;

/**
 * How many of the last chunks should become one; 0: none. Each row is copied four times at most before its chunk is large. A chunk that
 * deletes stays between those that are older and those that are newer.
 */
export function joinable(chunks: readonly Chunk[]): number {
  const last = chunks.at(-1);
  if (last === undefined || chunks.length < JOINED) return 0;
  const level = levelOf(last);
  if (level === LEVEL_LARGE) return 0;
  for (let i = 1; i <= JOINED; i++) {
    const chunk = chunks[chunks.length - i] as Chunk;
    if (chunk.deletes === true || levelOf(chunk) > level) return 0;
  }
  return JOINED;
}

const LEVEL_LARGE = 4;

/** 0 below 8 rows, 1 below 64, 2 below 512, 3 below 4096, 4 for chunks that are left as they are. */
function levelOf({ rowCount, columns, payload }: Chunk): number {
  if (rowCount >= ROWS_LARGE) return LEVEL_LARGE;
  const objectBytes = CHUNK_OBJECT_BYTES + columns.length * COLUMN_OBJECT_BYTES;
  if (rowCount >= ROWS_LEAN && payload.length >= objectBytes * LEAN_RATIO) return LEVEL_LARGE;
  return rowCount < 64 ? (rowCount < 8 ? 0 : 1) : rowCount < 512 ? 2 : 3;
}

/**
 * The rows of all chunks, in their order, with the newest sequence; undefined when their columns differ or their times lie too far
 * apart.
 */
export function joinChunks(chunks: readonly Chunk[], arena: Arena): Chunk | undefined {
  const [first] = chunks;
  if (first === undefined || !chunks.every((chunk) => haveSameColumns(first, chunk))) return undefined;
  let base = first.timeBase;
  let newest = first.timeBase;
  let rowCount = 0;
  for (const chunk of chunks) {
    if (chunk.timeBase < base) base = chunk.timeBase;
    if (chunkMaxTime(chunk) > newest) newest = chunkMaxTime(chunk);
    rowCount += chunk.rowCount;
  }
  if (newest - base > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const columns: ColumnSource[] = [];
  for (const [c, { columnId }] of first.columns.entries()) {
    const parts = chunks.map((chunk): Part => ({ rowCount: chunk.rowCount, data: (chunk.columns[c] as ChunkColumn).data }));
    const joined = joinValues(parts, rowCount);
    if (joined === undefined) return undefined;
    columns.push({ columnId, ...joined });
  }
  const sequence = chunks.reduce((max, chunk) => Math.max(max, chunk.sequence), 0);
  return buildChunk({ sequence, rowCount, ...joinKeys(chunks, base, rowCount), timeBase: base, columns }, arena);
}

function haveSameColumns(a: Chunk, b: Chunk): boolean {
  if (a.columns.length !== b.columns.length) return false;
  for (let c = 0; c < a.columns.length; c++) {
    const x = a.columns[c] as ChunkColumn;
    const y = b.columns[c] as ChunkColumn;
    if (x.columnId !== y.columnId || formOf(x.data) !== formOf(y.data)) return false;
  }
  return true;
}

function joinKeys(
  chunks: readonly Chunk[],
  base: bigint,
  rowCount: number,
): { readonly series: Uint32Array; readonly seriesMax: number; readonly timeOffsets: Float64Array } {
  const series = new Uint32Array(rowCount);
  const timeOffsets = new Float64Array(rowCount);
  let at = 0;
  for (const chunk of chunks) {
    series.set(chunk.series, at);
    timeOffsets.set(chunk.times, at);
    scaleTimes(timeOffsets, at, at + chunk.rowCount, Number(chunk.timeBase - base), chunk.timeScale);
    at += chunk.rowCount;
  }
  return { series, seriesMax: largest(series), timeOffsets };
}

function scaleTimes(offsets: Float64Array, from: number, to: number, shift: number, scale: number): void {
  for (let i = from; i < to; i++) offsets[i] = shift + offsets[i]! * scale;
}

function largest(numbers: Uint32Array): number {
  let max = 0;
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! > max) max = numbers[i]!;
  return max;
}

/** Bytes are joined whether chunks hold them once or row by row. */
function formOf({ kind }: ChunkValues): ChunkValues["kind"] {
  return kind === "repeated" ? "bytes" : kind;
}

/** One column of one chunk. */
interface Part {
  readonly rowCount: number;
  readonly data: ChunkValues;
}

/** The type tells how values may be narrowed: integers to what holds them, floats not at all. */
function joinValues(parts: readonly Part[], rowCount: number): { readonly type: DataType; readonly vector: Vector } | undefined {
  const validity = joinValidity(parts, rowCount);
  switch (parts[0]?.data.kind) {
    case "number":
      return joinNumbers(parts, rowCount, validity);
    case "wide": {
      const isSigned = parts[0].data.values instanceof BigInt64Array;
      const values = isSigned ? new BigInt64Array(rowCount) : new BigUint64Array(rowCount);
      forEachPart(parts, (data, at) => data.kind === "wide" && values.set(data.values, at));
      return { type: INT64, vector: { kind: "wide", values, validity } };
    }
    case "time":
      return joinTimes(parts, rowCount, validity);
    case "bytes":
    case "repeated":
      return joinBytes(parts, rowCount, validity);
    default:
      return undefined;
  }
}

function forEachPart(parts: readonly Part[], visit: (data: ChunkValues, at: number, rowCount: number) => void): void {
  let at = 0;
  for (const { data, rowCount } of parts) {
    visit(data, at, rowCount);
    at += rowCount;
  }
}

function joinValidity(parts: readonly Part[], rowCount: number): Uint8Array | undefined {
  if (parts.every(({ data }) => data.validity === undefined)) return undefined;
  const validity = new Uint8Array(rowCount);
  forEachPart(parts, ({ validity: own }, at, count) => {
    if (own === undefined) validity.fill(1, at, at + count);
    else validity.set(own, at);
  });
  return validity;
}

function joinNumbers(
  parts: readonly Part[],
  rowCount: number,
  validity: Uint8Array | undefined,
): { readonly type: DataType; readonly vector: Vector } {
  const has = (made: (values: NumberArray) => boolean): boolean => parts.some(({ data }) => data.kind === "number" && made(data.values));
  const isDouble = has((values) => values instanceof Float64Array || values instanceof Uint32Array);
  const isFloat = !isDouble && has((values) => values instanceof Float32Array);
  const values = isDouble ? new Float64Array(rowCount) : isFloat ? new Float32Array(rowCount) : new Int32Array(rowCount);
  forEachPart(parts, (data, at) => data.kind === "number" && values.set(data.values, at));
  return { type: isDouble ? FLOAT64 : isFloat ? FLOAT32 : INT64, vector: { kind: "number", values, validity } };
}

function joinTimes(
  parts: readonly Part[],
  rowCount: number,
  validity: Uint8Array | undefined,
): { readonly type: DataType; readonly vector: Vector } | undefined {
  const base = parts[0]?.data.kind === "time" ? parts[0].data.base : 0n;
  const offsets = new Float64Array(rowCount);
  let isExact = true;
  forEachPart(parts, (data, at, count) => {
    if (data.kind !== "time") return;
    const shift = Number(data.base - base);
    if (!Number.isSafeInteger(shift)) isExact = false;
    for (let i = 0; i < count; i++) {
      const offset = data.offsets[i]! + shift;
      // What lies under NULL is arbitrary.
      if (Number.isSafeInteger(offset)) offsets[at + i] = offset;
      else if (data.validity === undefined || data.validity[i] === 1) isExact = false;
    }
  });
  return isExact ? { type: INT64, vector: { kind: "time", base, offsets, validity } } : undefined;
}

function joinBytes(
  parts: readonly Part[],
  rowCount: number,
  validity: Uint8Array | undefined,
): { readonly type: DataType; readonly vector: Vector } {
  let length = 0;
  for (const { data, rowCount: count } of parts) {
    if (data.kind === "bytes") length += data.offsets[count]! - data.offsets[0]!;
    else if (data.kind === "repeated") length += data.bytes.length * count;
  }
  const offsets = new Uint32Array(rowCount + 1);
  const bytes = new Uint8Array(length);
  let to = 0;
  forEachPart(parts, (data, at, count) => {
    if (data.kind === "repeated") {
      const { length: each } = data.bytes;
      for (let i = 0; i < count; i++) offsets[at + i] = to + i * each;
      fillRepeated(data.bytes, bytes, to, to + each * count);
      to += each * count;
      return;
    }
    if (data.kind !== "bytes") return;
    const first = data.offsets[0]!;
    bytes.set(data.bytes.subarray(first, data.offsets[count]), to);
    for (let i = 0; i < count; i++) offsets[at + i] = to + data.offsets[i]! - first;
    to += data.offsets[count]! - first;
  });
  offsets[rowCount] = to;
  return { type: INT64, vector: { kind: "bytes", offsets, bytes, validity } };
}
