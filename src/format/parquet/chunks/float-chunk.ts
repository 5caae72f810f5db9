/**
 * Column chunks of floats: BYTE_STREAM_SPLIT, or a dictionary where a sample shows that it is smaller. Bits are kept exactly, NaN and -0
 * included.
 */
import { assert } from "../../../base/assert.ts";
import type { NumberVector } from "../../../column/vector.ts";
import { type ChunkWriter, noBounds, type StoredBounds, type WrittenChunk } from "./chunk-writer.ts";
import { countValid, denseDoubles, denseFloats } from "./dense-rows.ts";
import { splitDoubles, splitFloats } from "../encodings/byte-stream-split.ts";
import { bitWidthOf, encodeHybrid } from "../encodings/rle-bit-packed.ts";
import { COMPRESSED_SHARE_MAX, FIELD_DICTIONARY_ENTRIES_MAX } from "../limits.ts";
import { Encoding } from "../page/page-header.ts";
import { hasPageSums } from "../page/page-sums.ts";
import { PhysicalType } from "../schema/physical-type.ts";
import { encodeBound, type NumberStatistics, statisticsOfFloats } from "../page/statistics.ts";
import { FloatDictionary } from "./float-dictionary.ts";

type FloatArray = Float64Array | Float32Array;

/** Share of distinct values in the sample above which no dictionary is tried. */
const DISTINCT_SHARE_MAX = 0.6;

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. */
export function writeFloatChunk(chunk: ChunkWriter, input: NumberVector, start: number, pageEnds: Uint32Array): WrittenChunk {
  const dictionary = tryDictionary(chunk, input, start, pageEnds);
  if (dictionary !== undefined) chunk.dictionaryPage(dictionary.values(), dictionary.size);
  const { physical } = chunk;
  const withSums = hasPageSums(chunk.column);
  const total: NumberStatistics = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0, hasNaN: false };
  let from = start;
  for (const end of pageEnds) {
    const nullCount = chunk.definitionLevels(input.validity, from, end);
    const count = end - from - nullCount;
    const floats = load(chunk, input, from, end);
    const statistics = statisticsOfFloats(floats, count);
    const encoding = encodePage(chunk, floats, count, dictionary);
    const bounds = pageBounds(physical, statistics, count);
    const content = { rowCount: end - from, nullCount, encoding, values: chunk.values.bytes(), bounds };
    chunk.dataPage(withSums ? { ...content, sum: statistics.sum } : content);
    // `-0 < 0` is false, so compare signs too: a zero minimum must be the negative one.
    if (statistics.min < total.min || Object.is(statistics.min, -0)) total.min = Math.min(statistics.min, total.min);
    if (statistics.max >= total.max) total.max = Math.max(statistics.max, total.max);
    total.hasNaN ||= statistics.hasNaN;
    from = end;
  }
  if (total.hasNaN || total.min > total.max) return chunk.finish({ ...noBounds, exact: false });
  return chunk.finish({ min: encodeBound(physical, total.min), max: encodeBound(physical, total.max), exact: true });
}

function load(chunk: ChunkWriter, input: NumberVector, start: number, end: number): FloatArray {
  return chunk.physical === PhysicalType.Double
    ? denseDoubles(input.values, input.validity, start, end)
    : denseFloats(input.values, input.validity, start, end);
}

/** A page with NaN has no upper bound (NaN orders above all numbers); one of NaN only has no lower one either. */
function pageBounds(physical: PhysicalType, statistics: NumberStatistics, count: number): StoredBounds {
  if (count === 0) return noBounds;
  const { min, max, hasNaN } = statistics;
  const low = min > max ? Number.NEGATIVE_INFINITY : min;
  return { min: encodeBound(physical, low), max: encodeBound(physical, hasNaN ? Number.POSITIVE_INFINITY : max) };
}

function encodePage(chunk: ChunkWriter, floats: FloatArray, count: number, dictionary: FloatDictionary | undefined): Encoding {
  const { values } = chunk;
  if (dictionary !== undefined) {
    const indexes = dictionary.indexesOf(floats, count);
    assert(indexes !== undefined, "a dictionary built from the chunk holds all of its values");
    const width = bitWidthOf(dictionary.size);
    values.u8(width);
    encodeHybrid(values, indexes, count, width);
    return Encoding.RleDictionary;
  }
  const words = new Int32Array(floats.buffer, floats.byteOffset, (count * floats.BYTES_PER_ELEMENT) >>> 2);
  if (floats instanceof Float64Array) splitDoubles(values, words, count);
  else splitFloats(values, words, count);
  return Encoding.ByteStreamSplit;
}

/** A dictionary of the whole chunk when the first page says that it pays, and it still does once it is whole. */
function tryDictionary(chunk: ChunkWriter, input: NumberVector, start: number, pageEnds: Uint32Array): FloatDictionary | undefined {
  const sampleEnd = pageEnds[0]!;
  const count = countValid(input.validity, start, sampleEnd);
  if (count < 64) return undefined;
  const bytesPerElement = chunk.physical === PhysicalType.Double ? 8 : 4;
  const sample = new FloatDictionary(bytesPerElement, Math.floor(count * DISTINCT_SHARE_MAX));
  const floats = load(chunk, input, start, sampleEnd);
  if (!sample.add(floats, count)) return undefined;
  encodePage(chunk, floats, count, undefined);
  const split = compressedSize(chunk);
  encodePage(chunk, floats, count, sample);
  const indexed = compressedSize(chunk);
  const pageCount = pageEnds.length;
  const pays = (size: number, width: number): boolean => {
    // Indexes may grow as the dictionary does: by the bits of its size over those of the sample.
    const wider = (count * (width - bitWidthOf(sample.size))) / 8;
    return indexed + wider + (size * bytesPerElement) / pageCount < split * COMPRESSED_SHARE_MAX;
  };
  if (!pays(sample.size, bitWidthOf(sample.size))) return undefined;
  const dictionary = new FloatDictionary(bytesPerElement, FIELD_DICTIONARY_ENTRIES_MAX);
  let from = start;
  for (const end of pageEnds) {
    if (!dictionary.add(load(chunk, input, from, end), countValid(input.validity, from, end))) return undefined;
    from = end;
  }
  return pays(dictionary.size, bitWidthOf(dictionary.size)) ? dictionary : undefined;
}

function compressedSize(chunk: ChunkWriter): number {
  const raw = chunk.values.length;
  const packed = Bun.zstdCompressSync(chunk.values.bytes(), { level: chunk.zstdLevel }).length;
  chunk.values.reset();
  return Math.min(raw, packed);
}
