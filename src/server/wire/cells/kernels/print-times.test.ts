import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Vector } from "../../../../column/vector.ts";
import { Cells } from "../cells.ts";
import { printStamps, type StampForm } from "./print-times.ts";

const FAR = "far";

/** The text of a moment, by the runtime's calendar. */
function naive(units: bigint, { unitDigits, digits, isTrimmed, aheadOf }: StampForm): string {
  const perSecond = 10n ** BigInt(unitDigits);
  const fraction = ((units % perSecond) + perSecond) % perSecond;
  const seconds = Number((units - fraction) / perSecond);
  const date = new Date((seconds + (aheadOf?.(seconds) ?? 0)) * 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) return FAR;
  let shown = String(fraction).padStart(unitDigits, "0").slice(0, unitDigits).padEnd(9, "0").slice(0, digits);
  while (isTrimmed && shown.endsWith("000")) shown = shown.slice(0, -3);
  return date.toISOString().slice(0, 19).replace("T", " ") + (shown === "" ? "" : `.${shown}`);
}

test("timestamps are printed as the runtime's calendar has them", () => {
  const form = fc.record({
    unitDigits: fc.constantFrom(0, 3, 6, 9),
    digits: fc.constantFrom(0, 3, 6, 9),
    isTrimmed: fc.boolean(),
    aheadOf: fc.constantFrom(
      undefined,
      () => -5400,
      (seconds: number) => (seconds > 0 ? 7200 : 3600),
    ),
    farText: fc.constant(() => FAR),
  });
  const second = fc.oneof(
    fc.integer({ min: -100_000, max: 100_000 }),
    fc.integer({ min: -62_200_000_000, max: 253_500_000_000 }),
    fc.constantFrom(-62_167_219_200, -62_167_219_201, 253_402_300_799, 253_402_300_800, 951_782_400),
  );
  const part = fc.oneof(fc.nat(999_999_999), fc.constantFrom(0, 1_000_000, 123_000_000, 123_456_000, 1000, 1));
  const row = fc.tuple(second, part, fc.boolean());
  fc.assert(
    fc.property(form, fc.array(row, { minLength: 1, maxLength: 20 }), (stampForm, rows) => {
      const scale = 10n ** BigInt(stampForm.unitDigits);
      const fraction = (nanos: number): bigint => (BigInt(nanos) * scale) / 1_000_000_000n;
      // What is far from the first does not fit an offset.
      const range = 2 ** 52 / Number(scale);
      const kept = rows.filter(([seconds]) => Math.abs(seconds - rows[0]![0]) < range);
      const units = kept.map(([seconds, nanos]) => BigInt(seconds) * scale + fraction(nanos));
      const base = units[0]!;
      const vector: Vector = {
        kind: "time",
        base,
        offsets: Float64Array.from(units, (value) => Number(value - base)),
        validity: Uint8Array.from(kept, ([, , isValid]) => Number(isValid)),
      };
      const cells = Cells.take();
      cells.makeRows(kept.length);
      printStamps(vector, 0, kept.length, cells, stampForm);
      for (const [i, value] of units.entries()) {
        const [start, end] = [cells.starts[i]!, cells.ends[i]!];
        const got = end < start ? undefined : Buffer.from(cells.bytes.subarray(start, end)).toString();
        expect(got).toBe(kept[i]![2] ? naive(value, stampForm) : undefined);
      }
    }),
    { seed: 41, numRuns: 1500 },
  );
});
