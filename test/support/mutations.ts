/** Messages that went wrong on their way. */
import fc from "fast-check";

/** What happens to bytes: some change, some are cut out, some come twice. */
export function mutated(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const place = fc.nat(0xffff);
  const change = fc.oneof(
    fc.record({
      kind: fc.constant("set" as const),
      at: place,
      byte: fc.oneof(fc.nat(255), fc.constantFrom(0x00, 0x0a, 0x12, 0x1a, 0x08, 0x80, 0xff)),
    }),
    fc.record({ kind: fc.constant("cut" as const), at: place, length: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ kind: fc.constant("twice" as const), at: place, length: fc.integer({ min: 1, max: 24 }) }),
  );
  return fc.tuple(bytes, fc.array(change, { maxLength: 4 })).map(([whole, changes]) => {
    let list = [...whole];
    for (const step of changes) {
      if (list.length === 0) break;
      const at = step.at % list.length;
      if (step.kind === "set") list[at] = step.byte;
      else if (step.kind === "cut") list.splice(at, step.length);
      else list = [...list.slice(0, at + step.length), ...list.slice(at)];
    }
    return Uint8Array.from(list);
  });
}

/** Hands a message over as it would be if it ended at each of its bytes, and `numRuns` times with one to three bytes changed. */
export function attemptDamaged(
  good: Uint8Array,
  parameters: { readonly seed: number; readonly numRuns: number },
  attempt: (bytes: Uint8Array) => void,
): void {
  for (let end = 0; end < good.length; end++) attempt(good.subarray(0, end));
  const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const bad = good.slice();
      for (const [at, byte] of changes) bad[at] = byte;
      attempt(bad);
    }),
    parameters,
  );
}
