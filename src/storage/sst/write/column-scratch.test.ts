import { expect, test } from "bun:test";
import { ColumnScratch } from "./column-scratch.ts";

test("memory of a file is used again by the next, each piece apart", () => {
  const scratch = new ColumnScratch();
  const work = (...lengths: readonly number[]): Uint8Array[] => {
    scratch.begin();
    const pieces = lengths.map((length) => scratch.take(length));
    scratch.end();
    return pieces;
  };
  expect(work(100, 300).map(({ length }) => length)).toEqual([100, 300]);
  const [a, b] = work(100, 300);
  const [c, d, e] = work(50, 350, 1000);
  expect([c?.buffer === a?.buffer, c?.byteOffset, d?.byteOffset]).toEqual([a?.buffer === b?.buffer, 0, 50]);
  expect([e?.length, e?.buffer === c?.buffer]).toEqual([1000, false]);
  expect(work(1400)[0]?.buffer.byteLength).toBe(1750);
});

test("a file larger than what is kept gets memory of its own", () => {
  const scratch = new ColumnScratch();
  for (let file = 0; file < 2; file++) {
    scratch.begin();
    expect(scratch.take(100 * 1024 * 1024).buffer.byteLength).toBe(100 * 1024 * 1024);
    scratch.end();
  }
});
