/** Snappy blocks for properties. */
import fc from "fast-check";
import { compress } from "snappyjs";

/** Texts that repeat themselves. */
export const repetitive: fc.Arbitrary<Uint8Array> = fc
  .array(fc.constantFrom("cpu", "host", "a", "region-eu-central-1", "\0\0\0\0", "é"), { maxLength: 2000 })
  .map((parts) => new TextEncoder().encode(parts.join("")));

/** Blocks of such texts in which one to six bytes were changed. */
export const mutatedBlocks: fc.Arbitrary<Uint8Array> = fc
  .tuple(repetitive, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }))
  .map(([raw, changes]) => {
    const packed = new Uint8Array(compress(raw));
    for (const [at, value] of changes) packed[at % packed.length] = value;
    return packed;
  });
