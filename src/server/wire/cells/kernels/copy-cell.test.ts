import { expect, test } from "bun:test";
import fc from "fast-check";
import { COPY_SLACK_BYTES, copyWords } from "./copy-cell.ts";

test("cells are copied whole, wherever their source ends, and no further than they may", () => {
  const source = Uint8Array.from({ length: 70 }, (_, i) => i + 1);
  const view = new DataView(source.buffer);
  fc.assert(
    fc.property(fc.nat(70), fc.nat(70), fc.nat(10), (one, other, at) => {
      const [cell, end] = [Math.min(one, other), Math.max(one, other)];
      const target = new Uint8Array(90);
      copyWords(view, cell, end, new DataView(target.buffer), at);
      expect(target.slice(at, at + end - cell)).toEqual(source.slice(cell, end));
      expect(target.subarray(0, at).every((byte) => byte === 0)).toBe(true);
      expect(target.subarray(at + end - cell + COPY_SLACK_BYTES).every((byte) => byte === 0)).toBe(true);
    }),
    { seed: 42, numRuns: 2000 },
  );
});
