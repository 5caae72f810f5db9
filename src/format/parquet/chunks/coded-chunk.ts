/**
 * Column chunks of texts that come as codes: the dictionary is known, so no row is compared or hashed. What is written is, byte for byte,
 * what `byte-array-chunk.ts` writes of the same values where it makes a dictionary of them.
 */
import { bloomFilterOf } from "./bloom-filter.ts";
import { type ChunkWriter, noBounds, type StoredBounds, type WrittenChunk } from "./chunk-writer.ts";
import { encodePlainBytes } from "../encodings/byte-arrays.ts";
import { bitWidthOf, encodeHybrid } from "../encodings/rle-bit-packed.ts";
import { BOUND_BYTES_MAX } from "../limits.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { Encoding } from "../page/page-header.ts";
import { compareBytes, lowerBound, upperBound } from "../page/statistics.ts";
import type { CodedBytes } from "../types.ts";

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. */
export function writeCodedChunk(chunk: ChunkWriter, input: CodedBytes, start: number, pageEnds: Uint32Array): WrittenChunk {
  const end = pageEnds.at(-1) ?? start;
  const { indexes, texts } = indexesOf(input, start, end);
  const plain = new ByteWriter(1024);
  for (const text of texts) encodePlainBytes(plain, text);
  chunk.dictionaryPage(plain.bytes(), texts.length);
  const width = bitWidthOf(texts.length);
  let from = start;
  for (const pageEnd of pageEnds) {
    chunk.definitionLevels(undefined, from, pageEnd);
    const page = indexes.subarray(from - start, pageEnd - start);
    chunk.values.u8(width);
    encodeHybrid(chunk.values, page, page.length, width);
    const bounds = storedBounds(valuesOf(page, texts));
    const values = chunk.values.bytes();
    chunk.dataPage({ rowCount: page.length, nullCount: 0, encoding: Encoding.RleDictionary, values, bounds });
    from = pageEnd;
  }
  const [min, max] = rangeOf(texts);
  const exact = min !== undefined && min.length <= BOUND_BYTES_MAX && max !== undefined && max.length <= BOUND_BYTES_MAX;
  const bloom = chunk.column.bloom === true ? bloomFilterOf(texts.length, (i) => texts[i]!) : undefined;
  return chunk.finish({ ...storedBounds(texts), exact }, bloom);
}

/** The texts of the rows in the order of their first row, and the number of each row's text among them. */
function indexesOf(
  { codes, texts }: CodedBytes,
  start: number,
  end: number,
): { readonly indexes: Uint32Array; readonly texts: readonly Uint8Array[] } {
  const indexOfCode = new Int32Array(texts.length).fill(-1);
  const found: Uint8Array[] = [];
  const indexes = new Uint32Array(end - start);
  for (let row = start; row < end; row++) {
    const code = codes[row]!;
    if (indexOfCode[code] === -1) indexOfCode[code] = found.push(texts[code]!) - 1;
    indexes[row - start] = indexOfCode[code]!;
  }
  return { indexes, texts: found };
}

/** The texts that the rows of a page have, each once. */
function valuesOf(page: Uint32Array, texts: readonly Uint8Array[]): readonly Uint8Array[] {
  if (texts.length === 1) return texts;
  const seen = new Uint8Array(texts.length);
  for (let i = 0; i < page.length; i++) seen[page[i]!] = 1;
  return texts.filter((_, index) => seen[index] === 1);
}

function rangeOf(texts: readonly Uint8Array[]): readonly [min: Uint8Array | undefined, max: Uint8Array | undefined] {
  let [min] = texts;
  let max = min;
  for (const text of texts) {
    if (min === undefined || compareBytes(text, 0, text.length, min, 0, min.length) < 0) min = text;
    if (max === undefined || compareBytes(text, 0, text.length, max, 0, max.length) > 0) max = text;
  }
  return [min, max];
}

function storedBounds(texts: readonly Uint8Array[]): StoredBounds {
  const [min, max] = rangeOf(texts);
  return min === undefined || max === undefined ? noBounds : { min: lowerBound(min), max: upperBound(max) };
}
