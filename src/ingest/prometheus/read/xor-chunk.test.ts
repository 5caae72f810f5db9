import { expect, test } from "bun:test";
import fc from "fast-check";
import { crc32c } from "./read-series.ts";
import { XorChunk } from "./xor-chunk.ts";

/** A reader of chunks, written bit by bit from the format's description. */
class NaiveChunk {
  private readonly bits: string;
  private at = 16;
  private leading = 0;
  private trailing = 0;

  constructor(bytes: Uint8Array) {
    this.bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  }

  samples(): [number, bigint][] {
    const count = Number.parseInt(this.bits.slice(0, 16), 2);
    const found: [number, bigint][] = [];
    let time = 0n;
    let delta = 0n;
    let value = 0n;
    for (let i = 0; i < count; i++) {
      if (i === 0) {
        const zigzag = this.varint();
        time = (zigzag >> 1n) ^ -(zigzag & 1n);
        value = this.take(64);
      } else {
        delta = i === 1 ? this.varint() : delta + this.change();
        time += delta;
        value ^= this.xor();
      }
      found.push([Number(time), value]);
    }
    return found;
  }

  private take(count: number): bigint {
    const text = this.bits.slice(this.at, this.at + count);
    this.at += count;
    return count === 0 ? 0n : BigInt(`0b${text}`);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.take(8);
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  }

  private change(): bigint {
    for (const size of [0, 14, 17, 20]) {
      if (this.take(1) === 1n) continue;
      if (size === 0) return 0n;
      const bits = this.take(size);
      return bits > 1n << BigInt(size - 1) ? bits - (1n << BigInt(size)) : bits;
    }
    return BigInt.asIntN(64, this.take(64));
  }

  private xor(): bigint {
    if (this.take(1) === 0n) return 0n;
    if (this.take(1) === 1n) {
      this.leading = Number(this.take(5));
      const size = Number(this.take(6));
      this.trailing = 64 - this.leading - (size === 0 ? 64 : size);
    }
    return this.take(64 - this.leading - this.trailing) << BigInt(this.trailing);
  }
}

function check(samples: readonly (readonly [number, bigint])[]): void {
  const chunk = new XorChunk();
  for (let round = 0; round < 2; round++) {
    for (const [time, bits] of samples) chunk.append(time, Number(bits & 0xffff_ffffn) | 0, Number(bits >> 32n) | 0);
    expect([chunk.minTime, chunk.maxTime]).toEqual([samples[0]?.[0] ?? 0, samples.at(-1)?.[0] ?? 0]);
    expect(new NaiveChunk(chunk.finish()).samples()).toEqual(samples.map(([time, bits]) => [time, bits]));
  }
}

test("a steady series takes two bits a sample", () => {
  const chunk = new XorChunk();
  for (let i = 0; i < 120; i++) chunk.append(1_700_000_000_000 + i * 15_000, 0, 0x3ff0_0000);
  expect(chunk.finish().length).toBeLessThan(60);
});

test("every width of a double delta, at its ends", () => {
  for (const change of [8191, 8192, 8193, 65_535, 65_536, 65_537, 524_287, 524_288, 524_289, 2 ** 40]) {
    const start = 2 ** 41;
    check([0, start, 2 * start + change, 3 * start + change].map((time, i) => [time, BigInt(i)] as const));
    check([-5, start, 2 * start - change, 3 * start - change].map((time, i) => [time, BigInt(i)] as const));
  }
});

test("any times and any bits come back", () => {
  const sample = fc.tuple(fc.oneof(fc.nat(20_000), fc.nat(2 ** 31), fc.constant(15_000)), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 120 }), fc.integer({ min: -(2 ** 41), max: 2 ** 41 }), (list, start) => {
      let time = start;
      check(
        list.map(([step, bits]) => {
          time += step;
          return [time, bits] as const;
        }),
      );
    }),
    { seed: 20_261_121, numRuns: 200 },
  );
});

test("the checksum is Castagnoli's", () => {
  expect(crc32c(new TextEncoder().encode("123456789"))).toBe(0xe306_9283);
});
