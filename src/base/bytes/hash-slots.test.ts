import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HashSlots, slotOf } from "./hash-slots.ts";

/** Entries with a hash, in the order in which a lookup meets them. */
function entriesOf({ pairs, mask }: HashSlots, hash: number): number[] {
  const found: number[] = [];
  for (let at = slotOf(hash, mask); pairs[at + 1] !== 0; at = (at + 2) & mask) if (pairs[at] === hash) found.push((pairs[at + 1] ?? 0) - 1);
  return found;
}

describe("hash slots", () => {
  test("find what was added, over many growths, those of equal hashes too", () => {
    const hash = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 300 }), (hashes) => {
        const slots = new HashSlots(2);
        for (const [entry, each] of hashes.entries()) slots.add(each, entry);
        for (const each of new Set([...hashes, 77])) {
          const want = hashes.flatMap((other, entry) => (other === each ? [entry] : []));
          expect(entriesOf(slots, each).sort((a, b) => a - b)).toEqual(want);
        }
      }),
      { seed: 3, numRuns: 60 },
    );
  });

  test("that grow in steps have each entry among the new slots or the older ones, which hashes that have moved need not look at", () => {
    const step = fc.record({ hash: fc.oneof(fc.nat(6), fc.integer()), moved: fc.constantFrom(0, 0, 1, 20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.constantFrom(2 as const, 3 as const), (steps, stride) => {
        const slots = new HashSlots(4, { stride, inSteps: true });
        const found = (pairs: Int32Array, mask: number, hash: number): number[] => {
          const entries: number[] = [];
          for (let slot = hash & mask; pairs[slot * stride + stride - 1] !== 0; slot = (slot + 1) & mask) {
            const at = slot * stride;
            const entry = (pairs[at + stride - 1] ?? 0) - 1;
            if (pairs[at] === hash && (stride === 2 || pairs[at + 1] === -entry)) entries.push(entry);
          }
          return entries;
        };
        const all = new Map<number, number[]>();
        for (const [entry, { hash, moved }] of steps.entries()) {
          slots.add(hash | 0, entry, -entry);
          all.set(hash | 0, [...(all.get(hash | 0) ?? []), entry]);
          if (moved > 0) slots.move(moved);
          if (entry % 10 !== 0) continue;
          for (const [each, want] of all) {
            const older = slots.older !== undefined && slots.mayBeOlder(each) ? found(slots.older, slots.olderSlotMask, each) : [];
            expect([...new Set([...found(slots.pairs, slots.slotMask, each), ...older])].sort((a, b) => a - b)).toEqual(want);
          }
        }
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  test("take at most 21.4 B an entry, and always keep free ones, where a lookup ends", () => {
    const slots = new HashSlots(8);
    for (let entry = 0; entry < 5000; entry++) {
      slots.add(entry % 7, entry);
      expect(slots.byteLength <= Math.max(64, (entry + 1) * 21.4)).toBe(true);
    }
    expect(entriesOf(slots, 3).length).toBe(714);
    expect(entriesOf(slots, 99)).toEqual([]);
  });

  test("with room made for them take entries without growing", () => {
    const slots = new HashSlots(2);
    slots.reserve(1000);
    const { pairs } = slots;
    for (let entry = 0; entry < 1000; entry++) slots.add(entry, entry);
    expect(slots.pairs).toBe(pairs);
    slots.reserve(10);
    expect(slots.pairs).toBe(pairs);
  });

  test("forget everything, and look at slots without changing them", () => {
    const slots = new HashSlots(2);
    for (let entry = 0; entry < 100; entry++) slots.add(entry, entry);
    slots.fetch(Int32Array.of(1, -1, 5), 3);
    expect(entriesOf(slots, 5)).toEqual([5]);
    slots.reset(4);
    expect([entriesOf(slots, 5), slots.byteLength]).toEqual([[], 32]);
    slots.add(5, 9);
    expect(entriesOf(slots, 5)).toEqual([9]);
  });
});
