/**
 * One page of DELTA_BINARY_PACKED: bits a value and speed, both kinds of widths, and the generated unpacking against a bit cursor.
 *
 *   bun src/format/parquet/encodings/delta-binary-packed.bench.ts
 */
import { bench, do_not_optimize, run } from "mitata";
import { crc32 } from "../../../base/bytes/hash.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { packer, unpacker } from "./bit-pack.ts";
import { type DeltaWidths, encodeDelta32 } from "./delta-binary-packed.ts";
import { decodeDeltaInts, deltaCapacity } from "./delta-binary-unpacked.ts";

const COUNT = 16_384;
const ROWS_PER_SERIES = 250;

let state = 12_345;
/** A repeatable number in [0, 1). */
function random(): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return state / 2 ** 32;
}

const walk = new Int32Array(COUNT);
for (let i = 0, value = 0; i < COUNT; i++) {
  let step = -6;
  for (let k = 0; k < 12; k++) step += random();
  value = i % ROWS_PER_SERIES === 0 ? random() * 100 : Math.min(100, Math.max(0, value + step));
  walk[i] = value;
}

const cursorOf = (bytes: Uint8Array): ByteCursor => new ByteCursor(bytes, "bench", 0);
const out = new ByteWriter(1 << 16);
const ints = new Int8Array(deltaCapacity(COUNT));
for (const widths of ["tight", "aligned"] satisfies DeltaWidths[]) {
  out.reset();
  encodeDelta32(out, BigInt(walk[0] ?? 0), walk, COUNT, widths);
  const page = out.bytes().slice();
  const packed = Bun.zstdCompressSync(page, { level: 1 });
  const bits = (bytes: Uint8Array): string => ((bytes.length * 8) / COUNT).toFixed(2);
  console.log(`${widths}: ${bits(page)} bits a value, ${bits(packed)} with zstd, ${crc32(page).toString(16)}`);
  bench(`${widths}: encode ${COUNT}`, () => {
    out.reset();
    encodeDelta32(out, BigInt(walk[0] ?? 0), walk, COUNT, widths);
  });
  bench(`${widths}: zstd`, () => do_not_optimize(Bun.zstdCompressSync(page, { level: 1 })));
  bench(`${widths}: unzstd`, () => do_not_optimize(Bun.zstdDecompressSync(packed)));
  bench(`${widths}: decode ${COUNT}`, () => decodeDeltaInts(cursorOf(page), COUNT, ints));
}

/** What the generated functions replace. */
function unpackByCursor(bytes: Uint8Array, width: number, count: number, values: Uint32Array): void {
  let held = 0;
  let heldBits = 0;
  let at = 0;
  const mask = 2 ** width - 1;
  for (let i = 0; i < count; i++) {
    while (heldBits < width) {
      held |= (bytes[at++] as number) << heldBits;
      heldBits += 8;
    }
    values[i] = held & mask;
    held >>>= width;
    heldBits -= width;
  }
}

const WIDTH = 5;
const source = Uint32Array.from({ length: COUNT }, (_, i) => (i * 7) & 31);
const packedBits = new Uint8Array((COUNT * WIDTH) / 8);
const view = new DataView(packedBits.buffer);
for (let from = 0; from < COUNT; from += 32) packer(WIDTH)(view, (from / 8) * WIDTH, source, source, from);
const unpacked = new Uint32Array(COUNT);
bench(`unpack ${COUNT} × ${WIDTH} bits, generated`, () => {
  for (let from = 0; from < COUNT; from += 32) unpacker(WIDTH)(view, (from / 8) * WIDTH, unpacked, from);
});
bench(`unpack ${COUNT} × ${WIDTH} bits, bit cursor`, () => unpackByCursor(packedBits, WIDTH, COUNT, unpacked));
await run();
