/**
 * Column chunks of strings and binary fields: a dictionary when values repeat, else DELTA_LENGTH_BYTE_ARRAY.
 */
import type { BytesVector } from "../../../column/vector.ts";
import { bloomFilterOf } from "./bloom-filter.ts";
import { type ChunkWriter, noBounds, type StoredBounds, type WrittenChunk } from "./chunk-writer.ts";
import { encodeDeltaLengths } from "../encodings/byte-arrays.ts";
import { bitWidthOf, encodeHybrid } from "../encodings/rle-bit-packed.ts";
import { BOUND_BYTES_MAX } from "../limits.ts";
import { Encoding } from "../page/page-header.ts";
import { compareBytes, lowerBound, upperBound } from "../page/statistics.ts";
import { BytesDictionary } from "./bytes-dictionary.ts";

/** Rows looked at before a dictionary is built. */
const SAMPLE_ROWS = 4096;

/** Distinct values a row of the sample above which no dictionary is built. */
const DISTINCT_SHARE_MAX = 0.4;

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. */
export function writeByteArrayChunk(chunk: ChunkWriter, input: BytesVector, start: number, pageEnds: Uint32Array): WrittenChunk {
  const { values } = chunk;
  const rowEnd = pageEnds.length === 0 ? start : pageEnds[pageEnds.length - 1]!;
  const dictionary = tryDictionary(input, start, rowEnd);
  if (dictionary !== undefined) chunk.dictionaryPage(dictionary.plain(), dictionary.size);
  const width = dictionary === undefined ? 0 : bitWidthOf(dictionary.size);
  const total = new ByteBounds(input);
  let written = 0; // values that are not NULL, so far
  let from = start;
  for (const end of pageEnds) {
    const nullCount = chunk.definitionLevels(input.validity, from, end);
    const bounds = new ByteBounds(input);
    if (dictionary === undefined) bounds.addRows(from, end);
    else for (const row of dictionary.rowsOfValues(written, written + end - from - nullCount)) bounds.addRow(row);
    total.include(bounds);
    if (dictionary === undefined) {
      encodeDeltaLengths(values, input, from, end, "tight");
    } else {
      values.u8(width);
      encodeHybrid(values, dictionary.indexes.subarray(written), end - from - nullCount, width);
    }
    const encoding = dictionary === undefined ? Encoding.DeltaLengthByteArray : Encoding.RleDictionary;
    chunk.dataPage({ rowCount: end - from, nullCount, encoding, values: values.bytes(), bounds: bounds.stored() });
    written += end - from - nullCount;
    from = end;
  }
  const bloom = chunk.column.bloom === true ? bloomOf(input, dictionary, start, rowEnd) : undefined;
  return chunk.finish({ ...total.stored(), exact: total.exact }, bloom);
}

function bloomOf(input: BytesVector, dictionary: BytesDictionary | undefined, start: number, end: number): Uint8Array | undefined {
  if (dictionary !== undefined) return bloomFilterOf(dictionary.size, (i) => dictionary.value(i));
  const { offsets, bytes, validity } = input;
  const rows: number[] = [];
  for (let row = start; row < end; row++) if (validity === undefined || validity[row] !== 0) rows.push(row);
  return bloomFilterOf(rows.length, (i) => bytes.subarray(offsets[rows[i]!], offsets[rows[i]! + 1]));
}

function tryDictionary(input: BytesVector, start: number, end: number): BytesDictionary | undefined {
  const sampleEnd = Math.min(end, start + SAMPLE_ROWS);
  const sample = new BytesDictionary(input, start, Math.ceil((sampleEnd - start) * DISTINCT_SHARE_MAX));
  if (!sample.addUntil(sampleEnd) || sample.size === 0) return undefined;
  if (sampleEnd === end) return sample;
  const dictionary = new BytesDictionary(input, start);
  return dictionary.addUntil(end) ? dictionary : undefined;
}

/** Smallest and largest value seen, as rows of the input. Invariant: both rows are -1 or neither. */
class ByteBounds {
  private readonly input: BytesVector;
  private minRow = -1;
  private maxRow = -1;

  constructor(input: BytesVector) {
    this.input = input;
  }

  addRows(start: number, end: number): void {
    const { validity } = this.input;
    for (let row = start; row < end; row++) if (validity === undefined || validity[row] !== 0) this.addRow(row);
  }

  include(other: ByteBounds): void {
    if (other.minRow < 0) return;
    this.addRow(other.minRow);
    this.addRow(other.maxRow);
  }

  addRow(row: number): void {
    if (this.minRow < 0) {
      this.minRow = row;
      this.maxRow = row;
      return;
    }
    if (this.compare(row, this.minRow) < 0) this.minRow = row;
    else if (this.compare(row, this.maxRow) > 0) this.maxRow = row;
  }

  private compare(a: number, b: number): number {
    const { offsets, bytes } = this.input;
    return compareBytes(bytes, offsets[a]!, offsets[a + 1]!, bytes, offsets[b]!, offsets[b + 1]!);
  }

  private valueOf(row: number): Uint8Array {
    return this.input.bytes.subarray(this.input.offsets[row], this.input.offsets[row + 1]);
  }

  stored(): StoredBounds {
    if (this.minRow < 0) return noBounds;
    return { min: lowerBound(this.valueOf(this.minRow)), max: upperBound(this.valueOf(this.maxRow)) };
  }

  /** Whether `stored` holds the values themselves, not prefixes. */
  get exact(): boolean {
    if (this.minRow < 0) return false;
    return this.valueOf(this.minRow).length <= BOUND_BYTES_MAX && this.valueOf(this.maxRow).length <= BOUND_BYTES_MAX;
  }
}
