/**
 * The RLE / bit-packed hybrid, writing: dictionary indexes, definition levels and booleans.
 *
 *   run       | length << 1     | value in ceil(width / 8) bytes |
 *   literals  | groups << 1 | 1 | groups × 8 values of `width` bits, lowest bit first |
 *
 * Runs of 8 and more become runs; what lies between them is collected into literals, which end at a multiple of 8 by borrowing from the
 * run that follows. Only the last literals of a page may be padded.
 *
 * Source: Apache Parquet, Encodings.md.
 */
import type { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { packer } from "./bit-pack.ts";

/** Literals collected before they are written, a multiple of 32. */
const LITERALS_MAX = 1024;

const tail = new DataView(new ArrayBuffer(128));
const tailBytes = new Uint8Array(tail.buffer);

/** Bits that hold the numbers `[0, count)`. */
export function bitWidthOf(count: number): number {
  return count <= 1 ? 0 : 32 - Math.clz32(count - 1);
}

/** Appends runs to a page. */
export class HybridEncoder {
  private readonly out: ByteWriter;
  private readonly width: number;
  private readonly literals = new Uint32Array(LITERALS_MAX);
  private literalCount = 0;

  /** @param width bits of a value, 0..32 */
  constructor(out: ByteWriter, width: number) {
    this.out = out;
    this.width = width;
  }

  /** `length` times `value`. */
  run(value: number, length: number): void {
    const { literals } = this;
    let rest = length;
    const open = this.literalCount & 7;
    if (open !== 0 || rest < 8) {
      const taken = Math.min(rest, open === 0 ? rest : 8 - open);
      for (let i = 0; i < taken; i++) literals[this.literalCount++] = value;
      rest -= taken;
      if (this.literalCount === LITERALS_MAX) this.flush();
      if (rest === 0) return;
      if (rest < 8) {
        for (let i = 0; i < rest; i++) literals[this.literalCount++] = value;
        return;
      }
    }
    this.flush();
    this.out.varint(rest * 2);
    for (let shift = 0; shift < this.width; shift += 8) this.out.u8((value >>> shift) & 0xff);
  }

  /** Writes what is still collected. */
  finish(): void {
    while ((this.literalCount & 7) !== 0) this.literals[this.literalCount++] = 0;
    this.flush();
  }

  private flush(): void {
    const { literalCount: count, literals, out, width } = this;
    this.literalCount = 0;
    if (count === 0) return;
    out.varint((count >>> 3) * 2 + 1);
    if (width === 0) return;
    const byteLength = (count >>> 3) * width;
    out.reserve(byteLength);
    const pack = packer(width);
    const whole = count & ~31;
    for (let from = 0; from < whole; from += 32) pack(out.view, out.length + (from >>> 3) * width, literals, literals, from);
    if (whole < count) {
      for (let i = count; i < whole + 32; i++) literals[i] = 0;
      pack(tail, 0, literals, literals, whole);
      out.buffer.set(tailBytes.subarray(0, ((count - whole) >>> 3) * width), out.length + (whole >>> 3) * width);
    }
    out.length += byteLength;
  }
}

/** Appends `values[0, count)`, each below 2^width. */
export function encodeHybrid(out: ByteWriter, values: Uint32Array | Uint8Array, count: number, width: number): void {
  const encoder = new HybridEncoder(out, width);
  for (let i = 0; i < count; ) {
    const value = values[i]!;
    let end = i + 1;
    while (end < count && values[end] === value) end++;
    encoder.run(value, end - i);
    i = end;
  }
  encoder.finish();
}
