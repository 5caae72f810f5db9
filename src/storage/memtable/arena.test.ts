import { describe, expect, test } from "bun:test";
import { Arena, SlabPool } from "./arena.ts";
import { align8 } from "./chunk-layout.ts";

const KIB = 1024;
const SLAB_MAX = 4 * KIB * KIB;

test("multiples of 8, beyond 2^31 too", () => {
  const wants: readonly (readonly [number, number])[] = [
    [0, 0],
    [1, 8],
    [8, 8],
    [9, 16],
    [2 ** 31 - 1, 2 ** 31],
    [2 ** 31 + 1, 2 ** 31 + 8],
    [2 ** 40 + 3, 2 ** 40 + 8],
  ];
  for (const [offset, want] of wants) expect(align8(offset)).toBe(want);
});

describe("an arena", () => {
  test("gives aligned memory that never overlaps", () => {
    const arena = new Arena(new SlabPool(0));
    const taken = Array.from({ length: 2000 }, (_, i) => ({ length: (i * 37) % 5000, ...arena.allocate((i * 37) % 5000) }));
    for (const [value, { buffer, offset, length }] of taken.entries()) {
      expect(offset % 8).toBe(0);
      new Uint8Array(buffer, offset, length).fill(value & 255);
    }
    for (const [value, { buffer, offset, length }] of taken.entries()) {
      const bytes = new Uint8Array(buffer, offset, length);
      expect(bytes.every((byte) => byte === (value & 255))).toBe(true);
    }
  });

  test("starts small and doubles up to its largest slab", () => {
    const arena = new Arena(new SlabPool(0));
    const sizes: number[] = [];
    for (let i = 0; i < 9000; i++) {
      const { buffer } = arena.allocate(KIB);
      if (sizes.at(-1) !== buffer.byteLength) sizes.push(buffer.byteLength);
    }
    expect(sizes).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096].map((kib) => kib * KIB));
  });

  test("makes a slab of its own for what is larger", () => {
    const arena = new Arena(new SlabPool(0));
    expect(arena.allocate(9 * KIB * KIB).buffer.byteLength).toBe(16 * KIB * KIB);
    expect(arena.allocate(8 * KIB * KIB).buffer.byteLength).toBe(8 * KIB * KIB);
    expect(arena.bytes).toBe(24 * KIB * KIB);
    expect(arena.allocate(8).buffer.byteLength).toBe(SLAB_MAX);
  });

  test("takes nothing for nothing", () => {
    const arena = new Arena(new SlabPool(0));
    expect(arena.bytes).toBe(0);
    expect(arena.allocate(0).offset).toBe(0);
    expect(arena.allocate(1).offset).toBe(0);
  });
});

describe("a pool of slabs", () => {
  test("hands full-size slabs round, up to its limit", () => {
    const pool = new SlabPool(2 * SLAB_MAX);
    const first = new Arena(pool);
    const slabs = Array.from({ length: 3 }, () => first.allocate(SLAB_MAX).buffer);
    first.release();
    expect(first.bytes).toBe(0);
    const second = new Arena(pool);
    const again = Array.from({ length: 3 }, () => second.allocate(SLAB_MAX).buffer);
    expect(again.filter((slab) => slabs.includes(slab))).toHaveLength(2);
    expect(new Set(again).size).toBe(3);
  });

  test("keeps no small ones", () => {
    const pool = new SlabPool(SLAB_MAX);
    const first = new Arena(pool);
    const slab = first.allocate(8).buffer;
    first.release();
    expect(new Arena(pool).allocate(8).buffer).not.toBe(slab);
  });
});
