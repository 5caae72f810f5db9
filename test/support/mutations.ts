/** Messages that went wrong on their way, for tests that compare two decoders. */
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
