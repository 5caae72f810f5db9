import { expect, test } from "bun:test";
import { codedOf, plainOf, TEXTS } from "../../../../test/support/coded-text.ts";
import type { Vector } from "../../../column/vector.ts";
import { Cells, pieceRows } from "./cells.ts";
import { borrowBytes, borrowEntries } from "./kernels/print-cells.ts";

function cellsOf(vector: Vector, from: number, rowCount: number): (string | undefined)[] {
  const cells = Cells.take();
  cells.makeRows(rowCount);
  if (vector.kind === "coded") borrowEntries(vector, from, rowCount, cells);
  else if (vector.kind === "bytes") borrowBytes(vector, from, rowCount, cells);
  const found = Array.from({ length: rowCount }, (_, row) => {
    const [start, end] = [cells.starts[row] as number, cells.ends[row] as number];
    return end < start ? undefined : new TextDecoder().decode(cells.bytes.subarray(start, end));
  });
  cells.giveBack();
  return found;
}

test("text by code has the cells of plain text", () => {
  for (let from = 0; from < TEXTS.length; from += 3) {
    const rowCount = Math.min(4, TEXTS.length - from);
    expect(cellsOf(codedOf(TEXTS), from, rowCount)).toEqual(cellsOf(plainOf(TEXTS), from, rowCount));
    expect(cellsOf(codedOf(TEXTS), from, rowCount)).toEqual(TEXTS.slice(from, from + rowCount));
  }
});

test("a piece of text by code has no more bytes than one of plain text", () => {
  const texts = Array.from({ length: 100 }, () => "x".repeat(100_000));
  const rowsOf = (vector: Vector): number => pieceRows({ rowCount: texts.length, vectors: [vector] }, 3);
  expect(rowsOf(codedOf(texts))).toBe(rowsOf(plainOf(texts)));
});
