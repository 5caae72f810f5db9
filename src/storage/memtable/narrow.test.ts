import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { NumberArray } from "../../column/vector.ts";
import { ElementClass } from "./chunk-layout.ts";
import { copyNumbers, copyTimeSteps, integerClassOf, stepClassOf, timeShapeOf } from "./narrow.ts";

function check(values: NumberArray | readonly number[], want: ElementClass): void {
  const array = Array.isArray(values) ? Float64Array.from(values) : (values as NumberArray);
  expect(integerClassOf(array, array.length)).toBe(want);
}

describe("the class of integers", () => {
  const { i8, i16, i32, f64 } = ElementClass;
  const borders: readonly (readonly [value: number, want: ElementClass])[] = [
    [0, i8],
    [-0, i8],
    [127, i8],
    [-128, i8],
    [128, i16],
    [-129, i16],
    [32_767, i16],
    [-32_768, i16],
    [32_768, i32],
    [-32_769, i32],
    [2 ** 31 - 1, i32],
    [-(2 ** 31), i32],
    [2 ** 31, f64],
    [-(2 ** 31) - 1, f64],
    [Number.MAX_SAFE_INTEGER, f64],
    [Number.MIN_SAFE_INTEGER, f64],
  ];
  test.each(borders)("of %d among small ones", (value, want) => {
    check([value], want);
    check([0, value, 1], want);
    check([1, -1, value], want);
    if (value === (value | 0)) check(Int32Array.of(3, value), want);
    if (value === (value & 0xffff)) check(Uint16Array.of(3, value), want);
    if (value >= 0 && value < 2 ** 32) check(Uint32Array.of(3, value), want);
  });

  test("of arrays that are narrow already", () => {
    check(Int8Array.of(-128, 127), i8);
    check(Uint8Array.of(0, 127), i8);
    check(Uint8Array.of(128), i16);
    check(Int16Array.of(-129), i16);
    check(Int16Array.of(5), i8);
    check(Float64Array.of(), i8);
  });

  test("of the rows that count alone", () => {
    expect(integerClassOf(Int32Array.of(1, 2, 1_000_000), 2)).toBe(i8);
    expect(integerClassOf(Float64Array.of(1, 2, 1e15), 2)).toBe(i8);
  });

  test("holds every value, whatever they are", () => {
    const values = fc.array(fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.integer({ min: -300, max: 300 })), {
      minLength: 1,
      maxLength: 20,
    });
    const arrays = { [i8]: Int8Array, [i16]: Int16Array, [i32]: Int32Array, [f64]: Float64Array };
    fc.assert(
      fc.property(values, (list) => {
        const source = Float64Array.from(list);
        const element = integerClassOf(source, source.length) as keyof typeof arrays;
        const target = new arrays[element](source.length);
        copyNumbers(source, source.length, target);
        expect([...target]).toEqual(list.map((value) => value + 0));
      }),
      { seed: 2, numRuns: 300 },
    );
  });
});

describe("the shape of times", () => {
  function checkShape(offsets: readonly number[], scale: number, steps: readonly number[]): void {
    const array = Float64Array.from([...offsets, 1e15 + 1]); // The last one does not count.
    const shape = timeShapeOf(array, offsets.length);
    expect(shape).toEqual({ min: Math.min(...offsets), max: Math.max(...offsets), scale });
    const target = new Float64Array(offsets.length);
    copyTimeSteps(array, offsets.length, shape, target);
    expect([...target]).toEqual([...steps]);
  }

  test("one time needs no steps", () => checkShape([5, 5, 5], 1e9, [0, 0, 0]));
  test("whole seconds", () => checkShape([3e9, 1e9, 1e9, 11e9], 1e9, [2, 0, 0, 10]));
  test("whole seconds from a time that is not", () => checkShape([7, 1e9 + 7], 1e9, [0, 1]));
  test("milliseconds", () => checkShape([2_000_000, 0, 5_000_000], 1e6, [2, 0, 5]));
  test("microseconds", () => checkShape([1000, 0, 1_000_000], 1e3, [1, 0, 1000]));
  test("nanoseconds", () => checkShape([1, 0, 1_000_000_000], 1, [1, 0, 1_000_000_000]));
  test("before the base", () => checkShape([-3e9, -1e9, 0], 1e9, [0, 2, 3]));
  test("as far apart as may be", () => {
    checkShape([-(2 ** 52) + 1, 2 ** 52 - 1], 1, [0, 2 ** 53 - 2]);
    checkShape([0, 1000 * (2 ** 43 - 1)], 1000, [0, 2 ** 43 - 1]);
  });

  test("steps times scale are the times, whatever they are", () => {
    const times = fc.array(fc.integer({ min: -(2 ** 51), max: 2 ** 51 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(times, fc.constantFrom(1, 1000, 1_000_000), (list, factor) => {
        const offsets = Float64Array.from(list, (time) => Math.trunc(time / factor) * factor);
        const shape = timeShapeOf(offsets, offsets.length);
        const steps = new Float64Array(offsets.length);
        copyTimeSteps(offsets, offsets.length, shape, steps);
        expect(steps.map((step) => shape.min + step * shape.scale)).toEqual(offsets.map((offset) => offset + 0));
        expect(shape.scale).toBeGreaterThanOrEqual(factor);
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  test("steps are as narrow as the largest", () => {
    const { u8, u16, u32, f64 } = ElementClass;
    const wants: readonly (readonly [number, ElementClass])[] = [
      [0, u8],
      [255, u8],
      [256, u16],
      [65_535, u16],
      [65_536, u32],
      [2 ** 32 - 1, u32],
      [2 ** 32, f64],
      [2 ** 53 - 1, f64],
    ];
    for (const [max, want] of wants) expect(stepClassOf(max)).toBe(want);
  });
});
