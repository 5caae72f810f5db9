import { expect, test } from "bun:test";
import { KnownQueries } from "./known-queries.ts";

test("a query that was asked lately is the same tree, one that was asked long ago is read anew", () => {
  const known = new KnownQueries();
  const first = known.parse("sum(rate(a[5m]))");
  const other = known.parse("b");
  for (let i = 0; i < 62; i++) known.parse(`c${i}`);
  expect(known.parse("sum(rate(a[5m]))")).toBe(first);
  known.parse("one more");
  known.parse("d");
  expect(known.parse("sum(rate(a[5m]))")).toBe(first);
  const again = known.parse("b");
  expect(again).not.toBe(other);
  expect(again).toEqual(other);
});

test("neither long texts nor errors are kept", () => {
  const known = new KnownQueries();
  const long = `a{b="${"x".repeat(1024)}"}`;
  expect(known.parse(long)).not.toBe(known.parse(long));
  const wrong = known.parse("sum(");
  expect(wrong.ok).toBe(false);
  expect(known.parse("sum(")).toEqual(wrong);
});
