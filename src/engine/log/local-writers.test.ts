import { expect, test } from "bun:test";
import { writerId } from "../../base/units.ts";
import { LocalWriters } from "./local-writers.ts";

/** What a log of these records gives: `rows!` begins a segment. */
function check(records: readonly (readonly [number: number, segment: number, writer?: number])[], want: readonly string[]): void {
  const writers = new LocalWriters();
  const found = records.map(([number, segment, writer = 7]) => {
    const verdict = writers.take({ writer: writerId(writer), number, segment, catalogVersion: 0 });
    return "begins" in verdict && verdict.begins ? `${verdict.kind}!` : verdict.kind;
  });
  expect(found).toEqual([...want]);
}

test("a log whose first segments were trimmed begins in the midst of its writer's numbers", () => {
  check(
    [
      [57, 12],
      [58, 12],
      [59, 13],
    ],
    ["rows!", "rows", "rows!"],
  );
});

test("a process that goes on with a log is a new writer", () => {
  check(
    [
      [1, 1],
      [2, 1],
      [1, 2, 8],
      [2, 2, 8],
    ],
    ["rows!", "rows", "rows!", "rows"],
  );
});

test("records behind ones that failed count: their segment says everything anew", () => {
  check(
    [
      [1, 1],
      [2, 1],
      [5, 2],
      [6, 2],
    ],
    ["rows!", "rows", "rows!", "rows"],
  );
});

test("records behind a damaged one of their segment count, and rely on what is left", () => {
  check(
    [
      [1, 1],
      [3, 1],
      [4, 1],
    ],
    ["rows!", "rows", "rows"],
  );
});

test("a segment whose first record was damaged is begun by its second", () => {
  check(
    [
      [1, 1],
      [3, 2],
      [4, 2],
    ],
    ["rows!", "rows!", "rows"],
  );
});

test("a record that is there twice, or in a segment put behind a later one, counts once", () => {
  check(
    [
      [1, 1],
      [2, 1],
      [2, 1],
      [3, 2],
      [2, 1],
      [4, 2],
    ],
    ["rows!", "rows", "definitions", "rows!", "older", "rows"],
  );
});
