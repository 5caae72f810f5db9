import { expect, test } from "bun:test";
import { FLOAT64 } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Piece } from "../runs/scan-source.ts";
import { BatchArrays } from "./batch-arrays.ts";
import { concatPieces } from "./concat.ts";

function piecesOf(...parts: readonly (readonly number[])[]): readonly Piece[] {
  return parts.map((values) => ({
    vector: { kind: "number", values: Float64Array.from(values), validity: undefined },
    from: 0,
    to: values.length,
  }));
}

function valuesOf(vector: Vector): readonly unknown[] {
  return vector.kind === "number" ? [...vector.values] : [];
}

test("a column of the next batch lies in the same array, as long as its rows", () => {
  const doubles = new BatchArrays().makerOf(1);
  const first = concatPieces(piecesOf([1, 2], [3]), 3, FLOAT64, doubles);
  expect(valuesOf(first)).toEqual([1, 2, 3]);
  const second = concatPieces(piecesOf([4], [5]), 2, FLOAT64, doubles);
  expect(valuesOf(second)).toEqual([4, 5]);
  expect(valuesOf(first)).toEqual([4, 5, 3]);
  expect(valuesOf(concatPieces(piecesOf([6, 7], [8, 9]), 4, FLOAT64, doubles))).toEqual([6, 7, 8, 9]);
});

test("columns of one batch lie apart", () => {
  const arrays = new BatchArrays();
  const [one, other] = [0, 1].map((place) => concatPieces(piecesOf([place], [place]), 2, FLOAT64, arrays.makerOf(place)));
  expect([one, other].map((vector) => vector && valuesOf(vector))).toEqual([
    [0, 0],
    [1, 1],
  ]);
});

test("pages that pass as they are stay as they are", () => {
  const doubles = new BatchArrays().makerOf(0);
  const [page] = piecesOf([1, 2, 3]);
  if (page === undefined) throw new Error("one piece");
  const passed = concatPieces([page], 3, FLOAT64, doubles);
  concatPieces(piecesOf([7], [8]), 2, FLOAT64, doubles);
  expect(valuesOf(passed)).toEqual([1, 2, 3]);
});

test("arrays that were given back are those of the next scan, and nobody else's", () => {
  const former = new BatchArrays();
  const array = former.makerOf(0)(100);
  former.giveBack();
  const [next, other] = [new BatchArrays(), new BatchArrays()];
  expect(next.makerOf(0)(50).buffer).toBe(array.buffer);
  expect(other.makerOf(0)(50).buffer).not.toBe(array.buffer);
  expect(former.makerOf(0)(50).buffer).not.toBe(array.buffer);
});
