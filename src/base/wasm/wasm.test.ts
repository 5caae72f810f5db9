import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as code from "./code.ts";
import { compileKernel, type Kernel, kernelOn } from "./module.ts";

const { get, i32, set } = code;

const shared = new WebAssembly.Memory({ initial: 1 });

function run(kernel: Kernel, ...parameters: readonly number[]): number {
  return kernelOn(compileKernel(kernel), shared)(...parameters) >>> 0;
}

/** A function of two parameters that gives one expression. */
function given(expression: code.Code): Kernel {
  return { parameters: 2, locals: 0, body: [code.give(expression)] };
}

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 });

describe("expressions", () => {
  const check = (expression: code.Code, want: (a: number, b: number) => number): void => {
    const kernel = kernelOn(compileKernel(given(expression)), shared);
    const property = fc.property(word, word, (a, b) => expect(kernel(a, b) >>> 0).toBe(want(a >>> 0, b >>> 0) >>> 0));
    fc.assert(property, { seed: 20261121, numRuns: 200 });
  };
  const a = get(0);
  const b = get(1);
  test("add", () => check(code.add(a, b), (x, y) => x + y));
  test("subtract", () => check(code.sub(a, b), (x, y) => x - y));
  test("bits", () => {
    check(code.and(a, b), (x, y) => x & y);
    check(code.or(a, b), (x, y) => x | y);
    check(code.shl(a, b), (x, y) => x << (y & 31));
    check(code.shr(a, b), (x, y) => x >>> (y & 31));
  });
  test("comparisons have no sign", () => {
    check(code.eq(a, b), (x, y) => Number(x === y));
    check(code.ne(a, b), (x, y) => Number(x !== y));
    check(code.lt(a, b), (x, y) => Number(x < y));
    check(code.gt(a, b), (x, y) => Number(x > y));
    check(code.ge(a, b), (x, y) => Number(x >= y));
  });
  test("64 bits", () => {
    check(code.ne64(code.or64(code.shl64(code.wide(a), 32), code.wide(b)), code.wide(b)), (x) => Number(x !== 0));
  });
});

test("constants of every length", () => {
  const property = fc.property(word, (value) => expect(run(given(i32(value)))).toBe(value >>> 0));
  fc.assert(property, { seed: 20261121, numRuns: 300, examples: [[0], [63], [64], [-64], [-65], [0x8080_8080], [2 ** 32 - 1]] });
});

test("unsigned numbers of every length", () => {
  expect(code.unsigned(0)).toEqual([0]);
  expect(code.unsigned(127)).toEqual([127]);
  expect(code.unsigned(128)).toEqual([0x80, 1]);
  expect(code.unsigned(2 ** 32 - 1)).toEqual([0xff, 0xff, 0xff, 0xff, 0x0f]);
});

test("memory is read and written in every width, at any address", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const bytes = new Uint8Array(memory.buffer);
  const move = (bits: 8 | 32 | 64): void => {
    bytes.set([1, 2, 3, 4, 5, 6, 7, 8], 1);
    bytes.fill(0, 16, 32);
    const body = [code.store(bits, get(1), code.load(bits, get(0), 1), 2), code.give(code.load(16, get(0), 1))];
    expect(kernelOn(compileKernel({ parameters: 2, locals: 0, body }), memory)(0, 17)).toBe(0x0201);
    expect([...bytes.subarray(16, 30)]).toEqual([0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0].map((v) => (v * 8 <= bits ? v : 0)));
  };
  move(8);
  move(32);
  move(64);
  const body = [code.storeDouble(i32(64), code.double(code.wide(get(0)))), code.copy(i32(80), i32(64), i32(8)), code.give(i32(0))];
  kernelOn(compileKernel({ parameters: 1, locals: 0, body }), memory)(-1);
  expect(new Float64Array(memory.buffer, 80, 1)[0]).toBe(2 ** 32 - 1);
  expect(() => kernelOn(compileKernel(given(code.load(32, get(0)))), memory)(65_533, 0)).toThrow();
});

test("loops, blocks and branches", () => {
  // The sum of the odd numbers below a limit, or 7 where there is none.
  const body = [
    code.choose(code.eq(get(0), i32(0)), set(2, i32(7)), set(2, i32(0))),
    code.block(
      code.loop(
        code.jumpIf(code.ge(get(1), get(0)), 1),
        code.when(code.and(get(1), i32(1)), set(2, code.add(get(2), get(1)))),
        set(1, code.add(get(1), i32(1))),
        code.jump(0),
      ),
    ),
    code.give(get(2)),
  ];
  expect(run({ parameters: 1, locals: 2, body }, 10)).toBe(25);
  expect(run({ parameters: 1, locals: 2, body }, 0)).toBe(7);
});
