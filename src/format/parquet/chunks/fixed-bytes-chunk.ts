/**
 * Column chunks of decimals with more than 18 digits: PLAIN, 16 bytes a value, the highest byte first. zstd takes away the high bytes,
 * which are mostly equal: no dictionary is tried.
 */
import type { BytesVector } from "../../../column/vector.ts";
import { type ChunkWriter, noBounds, type StoredBounds, type WrittenChunk } from "./chunk-writer.ts";
import { Encoding } from "../page/page-header.ts";
import { FIXED_BYTES } from "../schema/physical-type.ts";

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. */
export function writeFixedBytesChunk(chunk: ChunkWriter, input: BytesVector, start: number, pageEnds: Uint32Array): WrittenChunk {
  const total = new FixedBounds(input);
  let from = start;
  for (const end of pageEnds) {
    const nullCount = chunk.definitionLevels(input.validity, from, end);
    const bounds = new FixedBounds(input);
    copyRows(chunk, input, nullCount, from, end);
    bounds.addRows(from, end);
    total.include(bounds);
    const values = chunk.values.bytes();
    chunk.dataPage({ rowCount: end - from, nullCount, encoding: Encoding.Plain, values, bounds: bounds.stored() });
    from = end;
  }
  return chunk.finish({ ...total.stored(), exact: true });
}

function copyRows({ values }: ChunkWriter, { offsets, bytes, validity }: BytesVector, nullCount: number, from: number, to: number): void {
  if (nullCount === 0) {
    values.raw(bytes.subarray(offsets[from], offsets[to]));
    return;
  }
  for (let row = from; row < to; row++) {
    if (validity![row] !== 0) values.raw(bytes.subarray(offsets[row], offsets[row]! + FIXED_BYTES));
  }
}

/** Smallest and largest value seen, as positions in the input's bytes; -1 before the first. */
class FixedBounds {
  private readonly input: BytesVector;
  private min = -1;
  private max = -1;

  constructor(input: BytesVector) {
    this.input = input;
  }

  addRows(start: number, end: number): void {
    const { offsets, validity } = this.input;
    for (let row = start; row < end; row++) if (validity === undefined || validity[row] !== 0) this.add(offsets[row]!);
  }

  include(other: FixedBounds): void {
    if (other.min < 0) return;
    this.add(other.min);
    this.add(other.max);
  }

  private add(at: number): void {
    const { bytes } = this.input;
    if (this.min < 0) this.min = this.max = at;
    else if (compareSigned(bytes, at, this.min) < 0) this.min = at;
    else if (compareSigned(bytes, at, this.max) > 0) this.max = at;
  }

  stored(): StoredBounds {
    if (this.min < 0) return noBounds;
    const { bytes } = this.input;
    const copied = (at: number): Uint8Array => new Uint8Array(bytes.subarray(at, at + FIXED_BYTES));
    return { min: copied(this.min), max: copied(this.max) };
  }
}

/** Order of two values: the sign lies in the first byte, all others count upwards. */
function compareSigned(bytes: Uint8Array, a: number, b: number): number {
  const sign = ((bytes[a]! << 24) >> 24) - ((bytes[b]! << 24) >> 24);
  if (sign !== 0) return sign;
  for (let i = 1; i < FIXED_BYTES; i++) {
    const difference = bytes[a + i]! - bytes[b + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
