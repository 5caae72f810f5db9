import { describe, expect, test } from "bun:test";
import { placedSchema } from "../../../test/support/placement-model.ts";
import { TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { SpreadSpan } from "../schema.ts";
import { changedSpreads, parseSpread, spreadChangeTime, spreadsOf } from "./spread.ts";

const NEVER_CHANGED = { options: {} };

test("what a table spreads over", () => {
  expect(spreadsOf(NEVER_CHANGED)).toEqual([{ spread: 4 }]);
  expect(spreadsOf({ options: { spread: "7" } })).toEqual([{ spread: 7 }]);
  expect(spreadsOf({ options: { spread: "7" }, spreads: [{ spread: 4 }, { from: 5n, spread: 7 }] })).toHaveLength(2);
  expect(spreadsOf({ options: {}, partitions: { columns: ["a"], rules: [] } })).toEqual([{ spread: 1 }]);
  expect(spreadsOf({ options: {}, partitions: { columns: ["a"], rules: ["a < 1", "a = 1", "a > 1"] } })).toEqual([{ spread: 3 }]);
});

test.each(["0", "1025", "", "-1", "1.5", "1e2", "ten", "00001"])("%p is no spread", (text) => {
  expect(() => parseSpread(text)).toThrow(`spread must be a whole number from 1 to 1024, got ${text}`);
});

test("spreads are read", () => {
  expect(["1", "16", "1024"].map(parseSpread)).toEqual([1, 16, 1024]);
});

describe("a change", () => {
  const check = (spans: readonly SpreadSpan[], spread: number | undefined, from: bigint, want: readonly SpreadSpan[]): void =>
    expect(changedSpreads({ options: {}, spreads: spans }, spread, from)).toEqual(want);

  test("holds from its time on", () => {
    expect(changedSpreads(NEVER_CHANGED, 8, 100n)).toEqual([{ spread: 4 }, { from: 100n, spread: 8 }]);
    check([{ spread: 4 }, { from: 100n, spread: 8 }], 6, 200n, [{ spread: 4 }, { from: 100n, spread: 8 }, { from: 200n, spread: 6 }]);
    check([{ spread: 3 }], undefined, 100n, [{ spread: 3 }, { from: 100n, spread: 4 }]);
  });

  test("to what is so already is none", () => {
    expect(changedSpreads(NEVER_CHANGED, 4, 100n)).toEqual([{ spread: 4 }]);
    check([{ spread: 3 }, { from: 5n, spread: 8 }], 8, 100n, [{ spread: 3 }, { from: 5n, spread: 8 }]);
  });

  test("takes the place of one that has not begun", () => {
    check([{ spread: 3 }, { from: 100n, spread: 8 }], 6, 50n, [{ spread: 3 }, { from: 50n, spread: 6 }]);
    check([{ spread: 3 }, { from: 100n, spread: 8 }], 6, 100n, [{ spread: 3 }, { from: 100n, spread: 6 }]);
    check([{ spread: 3 }, { from: 100n, spread: 8 }], 3, 50n, [{ spread: 3 }]);
  });

  test("is refused after too many", () => {
    let spreads = spreadsOf(NEVER_CHANGED);
    for (let i = 0; i < 64; i++) spreads = changedSpreads({ options: {}, spreads }, 5 + (i % 2), BigInt(i));
    expect(() => changedSpreads({ options: {}, spreads }, 9, 1000n)).toThrow("it changed 64 times; copy the rows into a new table");
  });
});

test("a change begins an hour ahead and after all rows, in the unit of the table", () => {
  const schema = placedSchema("t", 1, []);
  expect(spreadChangeTime(schema, 5_000_000_000n, undefined)).toBe(3_605_001n);
  expect(spreadChangeTime(schema, 5_000_000_000n, { start: 0n, end: 9n })).toBe(3_605_001n);
  expect(spreadChangeTime(schema, 5_000_000_000n, { start: 0n, end: 2n ** 63n })).toBe(2n ** 63n + 3_600_001n);
  expect(spreadChangeTime(schema, 5_000_000_000n, { start: 0n, end: 9_000_000n })).toBe(12_600_001n);
  const [time, ...others] = schema.columns;
  const nanos = { ...schema, columns: [{ ...time!, type: TIMESTAMP_NANOSECOND }, ...others] };
  expect(spreadChangeTime(nanos, 5n, undefined)).toBe(3_600_000_000_006n);
});
