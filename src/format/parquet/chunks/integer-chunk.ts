/**
 * Column chunks of integers, decimals of up to 18 digits, dates, times and durations: DELTA_BINARY_PACKED, or PLAIN for a page whose
 * values span 2^52 or more (2^31 in 32-bit columns), where deltas would save nothing and doubles would not be exact.
 *
 * Every page is brought to one of three arrays first: Int32Array of values or of offsets from the page's minimum, Float64Array of offsets,
 * BigInt64Array. Only the last costs a bigint a row, and only true 64-bit data gets there.
 */
import { assert } from "../../../base/assert.ts";
import { invalidArguments } from "../../../base/error.ts";
import type { NumberArray, NumberVector, TimeVector, WideVector } from "../../../column/vector.ts";
import { type ChunkWriter, noBounds, type StoredBounds, type WrittenChunk } from "./chunk-writer.ts";
import { denseDoubles, denseInts, denseWides, doubleScratch, intScratch, wideScratch } from "./dense-rows.ts";
import { type DeltaWidths, encodeDelta32, encodeDelta64 } from "../encodings/delta-binary-packed.ts";
import { COMPRESSED_SHARE_MAX } from "../limits.ts";
import { Encoding } from "../page/page-header.ts";
import { hasPageSums } from "../page/page-sums.ts";
import { PhysicalType, storedScale } from "../schema/physical-type.ts";
import { encodeBound, type NumberStatistics, statisticsOfInts, statisticsOfWholes } from "../page/statistics.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";

/** Inputs that integer chunks take. */
export type IntegerInput = NumberVector | WideVector | TimeVector;

/** Widest range of an encoded page of doubles. Reason: differences of deltas stay exact. */
const DELTA_RANGE_MAX: number = 2 ** 52;

/** A page ready to be encoded: `count` values `base + offsets[i]`, or `wide` ones. */
interface IntegerPage {
  readonly count: number;
  readonly base: bigint;
  readonly ints: Int32Array | undefined;
  readonly doubles: Float64Array | undefined;
  readonly wide: BigInt64Array | undefined;
  /** Exact bounds, both ends included; meaningless when `count` is 0. */
  readonly min: bigint;
  readonly max: bigint;
  /** NaN when not exact. */
  readonly sum: number;
}

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. */
export function writeIntegerChunk(chunk: ChunkWriter, input: IntegerInput, start: number, pageEnds: Uint32Array): WrittenChunk {
  const { physical, column } = chunk;
  const withSums = hasPageSums(column);
  let widths: DeltaWidths | undefined;
  let min: bigint | undefined;
  let max: bigint | undefined;
  let from = start;
  for (const end of pageEnds) {
    const nullCount = chunk.definitionLevels(input.validity, from, end);
    const page = loadPage(chunk, input, from, end, nullCount);
    widths ??= page.count >= 256 ? chooseWidths(chunk, page) : undefined;
    const encoding = encodePage(chunk, page, widths ?? "tight");
    let bounds: StoredBounds = noBounds;
    if (page.count > 0) {
      bounds = { min: encodeBound(physical, page.min), max: encodeBound(physical, page.max) };
      if (min === undefined || page.min < min) min = page.min;
      if (max === undefined || page.max > max) max = page.max;
    }
    const content = { rowCount: end - from, nullCount, encoding, values: chunk.values.bytes(), bounds };
    chunk.dataPage(withSums ? { ...content, sum: page.sum } : content);
    from = end;
  }
  if (min === undefined || max === undefined) return chunk.finish({ ...noBounds, exact: false });
  return chunk.finish({ min: encodeBound(physical, min), max: encodeBound(physical, max), exact: true });
}

function loadPage(chunk: ChunkWriter, input: IntegerInput, start: number, end: number, nullCount: number): IntegerPage {
  const count = end - start - nullCount;
  const validity = nullCount === 0 ? undefined : input.validity;
  switch (input.kind) {
    case "time":
      return loadTimes(chunk, input, validity, start, end, count);
    case "wide": {
      const unsigned = input.values instanceof BigUint64Array;
      const wide = denseWides(input.values, validity, start, end);
      scaleWides(chunk, wide, count);
      return wholePage(wide, unsigned, count);
    }
    case "number": {
      const { values } = input;
      const scale = storedScale(chunk.column);
      if (scale !== 1) return scaledNumbers(values, scale, validity, start, end, count);
      if (values instanceof Float64Array || values instanceof Uint32Array || values instanceof Float32Array) {
        const doubles = denseDoubles(values, validity, start, end);
        return doublesPage(doubles, 0n, statisticsOfWholes(doubles, count), count);
      }
      const ints = denseInts(values, validity, start, end);
      return intsPage(ints, statisticsOfInts(ints, count), count);
    }
  }
}

function intsPage(ints: Int32Array, statistics: NumberStatistics, count: number): IntegerPage {
  if (statistics.max - statistics.min >= 2 ** 31) {
    const doubles = doubleScratch(count);
    doubles.set(ints.subarray(0, count));
    return doublesPage(doubles, 0n, statistics, count);
  }
  const [min, max] = count === 0 ? [0n, 0n] : [BigInt(statistics.min), BigInt(statistics.max)];
  return { count, base: 0n, ints, doubles: undefined, wide: undefined, min, max, sum: statistics.sum };
}

/** A page of `base + doubles[i]`; statistics are those of the doubles. */
function doublesPage(doubles: Float64Array, base: bigint, statistics: NumberStatistics, count: number): IntegerPage {
  if (count === 0) {
    return { count, base, ints: intScratch(0), doubles: undefined, wide: undefined, min: 0n, max: 0n, sum: 0 };
  }
  const { min, max, sum } = statistics;
  assert(Number.isSafeInteger(min) && Number.isSafeInteger(max), `whole numbers within 2^53; got ${min}..${max}`);
  const bounds = { count, min: base + BigInt(min), max: base + BigInt(max), sum };
  if (max - min < 2 ** 31) {
    const ints = intScratch(count);
    for (let i = 0; i < count; i++) ints[i] = doubles[i]! - min;
    return { ...bounds, base: base + BigInt(min), ints, doubles: undefined, wide: undefined };
  }
  if (max - min < DELTA_RANGE_MAX) return { ...bounds, base, ints: undefined, doubles, wide: undefined };
  const wide = wideScratch(count);
  for (let i = 0; i < count; i++) wide[i] = base + BigInt(doubles[i]!);
  return { ...bounds, base: 0n, ints: undefined, doubles: undefined, wide };
}

/** Times of day in the stored unit. */
function scaledNumbers(
  values: NumberArray,
  scale: number,
  validity: Uint8Array | undefined,
  start: number,
  end: number,
  count: number,
): IntegerPage {
  const doubles = denseDoubles(values, validity, start, end);
  for (let i = 0; i < count; i++) doubles[i] = doubles[i]! * scale;
  return doublesPage(doubles, 0n, statisticsOfWholes(doubles, count), count);
}

function loadTimes(
  chunk: ChunkWriter,
  input: TimeVector,
  validity: Uint8Array | undefined,
  start: number,
  end: number,
  count: number,
): IntegerPage {
  const doubles = denseDoubles(input.offsets, validity, start, end);
  const statistics = statisticsOfWholes(doubles, count);
  const scale = storedScale(chunk.column);
  if (scale !== 1 && count > 0) {
    const base = input.base * BigInt(scale);
    const largest = Math.max(Math.abs(statistics.min), Math.abs(statistics.max));
    if (largest * scale <= Number.MAX_SAFE_INTEGER) {
      for (let i = 0; i < count; i++) doubles[i] = doubles[i]! * scale;
      return inRange(chunk, doublesPage(doubles, base, scaled(statistics, scale), count));
    }
    const wide = wideScratch(count);
    for (let i = 0; i < count; i++) {
      const value = (input.base + BigInt(doubles[i]!)) * BigInt(scale);
      checkRange(chunk, value);
      wide[i] = value;
    }
    return wholePage(wide, false, count);
  }
  return inRange(chunk, doublesPage(doubles, input.base, statistics, count));
}

/** Brings wide times to the stored unit, in place. */
function scaleWides(chunk: ChunkWriter, wide: BigInt64Array, count: number): void {
  const scale = storedScale(chunk.column);
  if (scale === 1) return;
  for (let i = 0; i < count; i++) {
    const value = wide[i]! * BigInt(scale);
    checkRange(chunk, value);
    wide[i] = value;
  }
}

function scaled(statistics: NumberStatistics, scale: number): NumberStatistics {
  return { min: statistics.min * scale, max: statistics.max * scale, sum: Number.NaN, hasNaN: false };
}

function inRange(chunk: ChunkWriter, page: IntegerPage): IntegerPage {
  checkRange(chunk, page.min);
  checkRange(chunk, page.max);
  return page;
}

function checkRange(chunk: ChunkWriter, value: bigint): void {
  if (value >= INT64_MIN && value <= INT64_MAX) return;
  throw invalidArguments(
    `cannot write column ${chunk.column.name}: ${value} does not fit 64 bits in the stored unit; set bareSeconds for such seconds`,
  );
}

/** A page of 64-bit integers, given as their bits. Brought to offsets when they lie close together. */
function wholePage(wide: BigInt64Array, unsigned: boolean, count: number): IntegerPage {
  if (count === 0) return { count, base: 0n, ints: intScratch(0), doubles: undefined, wide: undefined, min: 0n, max: 0n, sum: 0 };
  const values = unsigned ? new BigUint64Array(wide.buffer, wide.byteOffset, count) : wide;
  let min = values[0]!;
  let max = min;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (max - min < BigInt(DELTA_RANGE_MAX)) {
    const doubles = doubleScratch(count);
    for (let i = 0; i < count; i++) doubles[i] = Number(values[i]! - min);
    const statistics = { min: 0, max: Number(max - min), sum: Number.NaN, hasNaN: false };
    return { ...doublesPage(doubles, min, statistics, count), sum: exactSum(doubles, min, max, count) };
  }
  return { count, base: 0n, ints: undefined, doubles: undefined, wide, min, max, sum: Number.NaN };
}

/** The sum of `min + offsets[i]`, or NaN when it may exceed 2^53. */
function exactSum(offsets: Float64Array, min: bigint, max: bigint, count: number): number {
  const largest = Math.max(Math.abs(Number(min)), Math.abs(Number(max)));
  if (largest * count > Number.MAX_SAFE_INTEGER) return Number.NaN;
  let sum = Number(min) * count;
  for (let i = 0; i < count; i++) sum += offsets[i]!;
  return sum;
}

function encodePage(chunk: ChunkWriter, page: IntegerPage, widths: DeltaWidths): Encoding {
  const { values, physical } = chunk;
  const { count, base, ints, doubles, wide } = page;
  const bits = physical === PhysicalType.Int32 ? 32 : 64;
  if (ints !== undefined) {
    const first = count === 0 ? 0n : BigInt.asIntN(bits, base + BigInt(ints[0]!));
    encodeDelta32(values, first, ints, count, widths);
    return Encoding.DeltaBinaryPacked;
  }
  if (doubles !== undefined && bits === 64) {
    encodeDelta64(values, BigInt.asIntN(64, base + BigInt(doubles[0]!)), doubles, count, widths);
    return Encoding.DeltaBinaryPacked;
  }
  if (doubles !== undefined) {
    values.reserve(count * 4);
    for (let i = 0; i < count; i++) values.view.setInt32(i * 4, Number(base) + doubles[i]!, true);
    values.length = count * 4;
    return Encoding.Plain;
  }
  assert(wide !== undefined, "an integer page has one kind of values");
  values.raw(new Uint8Array(wide.buffer, wide.byteOffset, count * 8));
  return Encoding.Plain;
}

/** Tries the first page both ways. Aligned must win by 5 %: tight pages often need no zstd at all. */
function chooseWidths(chunk: ChunkWriter, page: IntegerPage): DeltaWidths {
  const sizes = (["tight", "aligned"] as const).map((widths) => {
    chunk.values.reset();
    encodePage(chunk, page, widths);
    const raw = chunk.values.length;
    const packed = Bun.zstdCompressSync(chunk.values.bytes(), { level: chunk.zstdLevel }).length;
    return packed < raw * COMPRESSED_SHARE_MAX ? packed : raw;
  });
  chunk.values.reset();
  return sizes[1]! < sizes[0]! * COMPRESSED_SHARE_MAX ? "aligned" : "tight";
}
