/**
 * Column chunks of tags: a dictionary and run-length coded indexes, straight from runs, without a code a row.
 *
 * The dictionary holds the values that occur, in the order of their first run.
 */
import { firstWordFrom } from "../../../base/bytes/binary-search.ts";
import { assert } from "../../../base/assert.ts";
import { pickTexts, type TextTable } from "../../../column/text-table.ts";
import { bloomFilterOfTexts } from "./bloom-filter.ts";
import { type ChunkWriter, noBounds, type StoredBounds, type WrittenChunk } from "./chunk-writer.ts";
import { encodePlainTexts } from "../encodings/byte-arrays.ts";
import { bitWidthOf, HybridEncoder } from "../encodings/rle-bit-packed.ts";
import { BOUND_BYTES_MAX } from "../limits.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { Encoding } from "../page/page-header.ts";
import { compareBytes, lowerBound, upperBound } from "../page/statistics.ts";
import type { TagRuns } from "../types.ts";

/** Index of a code in the chunk's dictionary, plus 1; 0 = not seen. Cleared after each chunk through the list of codes seen. */
let indexOfCode = new Uint32Array(1024);

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. */
export function writeTagChunk(chunk: ChunkWriter, input: TagRuns, start: number, pageEnds: Uint32Array): WrittenChunk {
  const rowEnd = pageEnds.length === 0 ? start : pageEnds[pageEnds.length - 1]!;
  const firstRun = firstWordFrom(input.ends, start + 1);
  const codes = collectCodes(input, firstRun, rowEnd);
  const values = pickTexts(input.texts, codes);
  const plain = new ByteWriter(1 << 16);
  encodePlainTexts(plain, values);
  chunk.dictionaryPage(plain.bytes(), codes.length);
  const total = new TagBounds(values);
  let run = firstRun;
  let from = start;
  for (const end of pageEnds) {
    const bounds = new TagBounds(values);
    run = writePage(chunk, input, run, from, end, codes.length, bounds);
    total.include(bounds);
    from = end;
  }
  for (const code of codes) indexOfCode[code] = 0;
  const bloom = chunk.column.bloom === true ? bloomFilterOfTexts(values) : undefined;
  return chunk.finish({ ...total.stored(), exact: total.exact }, bloom);
}

/** Entry `index` of the chunk's dictionary: code `index + 1` of its texts. */
function valueAt({ bytes, starts }: TextTable, index: number): Uint8Array {
  return bytes.subarray(starts[index + 1], starts[index + 2]);
}

/** The codes other than NULL of the runs up to `rowEnd`, in order of appearance; `indexOfCode` then holds their positions plus 1. */
function collectCodes(input: TagRuns, firstRun: number, rowEnd: number): Uint32Array {
  const { ends, codes, texts } = input;
  if (indexOfCode.length < texts.size) indexOfCode = new Uint32Array(texts.size * 2);
  const seen = new Uint32Array(Math.min(texts.size, ends.length - firstRun));
  let count = 0;
  for (let run = firstRun; run < ends.length && (run === 0 ? 0 : ends[run - 1]!) < rowEnd; run++) {
    const code = codes[run]!;
    if (code === 0 || indexOfCode[code] !== 0) continue;
    if (code >= texts.size) assert(false, `a tag code of the dictionary; got ${code}`);
    seen[count++] = code;
    indexOfCode[code] = count;
  }
  return seen.subarray(0, count);
}

/** Writes rows `[from, end)`, which begin in `firstRun`. Returns the run that holds `end`. */
function writePage(
  chunk: ChunkWriter,
  input: TagRuns,
  firstRun: number,
  from: number,
  end: number,
  dictionarySize: number,
  bounds: TagBounds,
): number {
  const { ends, codes } = input;
  const { values } = chunk;
  const width = bitWidthOf(dictionarySize);
  values.u8(width);
  const levels = chunk.levelEncoder();
  const indexes = new HybridEncoder(values, width);
  let nullCount = 0;
  let row = from;
  let run = firstRun;
  let open = 0; // rows of equal validity not yet given to `levels`
  let openLevel = 1;
  while (row < end) {
    const stop = Math.min(ends[run]!, end);
    const length = stop - row;
    const level = codes[run] === 0 ? 0 : 1;
    if (level !== openLevel) {
      if (open > 0) levels.run(openLevel, open);
      open = 0;
      openLevel = level;
    }
    open += length;
    if (level === 0) {
      nullCount += length;
    } else if (length > 0) {
      const index = indexOfCode[codes[run]!]! - 1;
      bounds.add(index);
      indexes.run(index, length);
    }
    row = stop;
    if (ends[run]! <= end) run++;
  }
  if (open > 0) levels.run(openLevel, open);
  levels.finish();
  indexes.finish();
  chunk.dataPage({
    rowCount: end - from,
    nullCount,
    encoding: Encoding.RleDictionary,
    values: values.bytes(),
    bounds: bounds.stored(),
  });
  return run;
}

/** Smallest and largest entry seen. Invariant: both are -1 or neither. */
class TagBounds {
  private readonly values: TextTable;
  private min = -1;
  private max = -1;

  constructor(values: TextTable) {
    this.values = values;
  }

  add(index: number): void {
    if (index === this.min || index === this.max) return;
    if (this.min < 0) {
      this.min = index;
      this.max = index;
    } else if (this.compare(index, this.min) < 0) {
      this.min = index;
    } else if (this.compare(index, this.max) > 0) {
      this.max = index;
    }
  }

  include(other: TagBounds): void {
    if (other.min < 0) return;
    this.add(other.min);
    this.add(other.max);
  }

  private compare(a: number, b: number): number {
    const { bytes, starts } = this.values;
    return compareBytes(bytes, starts[a + 1]!, starts[a + 2]!, bytes, starts[b + 1]!, starts[b + 2]!);
  }

  stored(): StoredBounds {
    if (this.min < 0) return noBounds;
    return { min: lowerBound(valueAt(this.values, this.min)), max: upperBound(valueAt(this.values, this.max)) };
  }

  get exact(): boolean {
    const isShort = (index: number): boolean => valueAt(this.values, index).length <= BOUND_BYTES_MAX;
    return this.min >= 0 && isShort(this.min) && isShort(this.max);
  }
}
