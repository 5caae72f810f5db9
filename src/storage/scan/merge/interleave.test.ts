import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Piece, RowRange, ScanSource } from "../runs/scan-source.ts";
import { readInterleaved, type SourceRange } from "./interleave.ts";

/** Row r of source s is the number 1000 s + r. */
function valueOf(source: number, row: number): number {
  return source * 1000 + row;
}

/** A source in pages of so many rows; it counts how often it is asked. Without pages it answers all rows in one piece, as memtables do. */
class Counted {
  asked = 0;
  readonly source: ScanSource;

  constructor(number: number, pageRows: number | undefined) {
    const pieces = (ranges: readonly RowRange[]): Piece[] => {
      this.asked++;
      const rows = ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
      if (pageRows === undefined) return [pieceOf(rows.map((row) => valueOf(number, row)))];
      return ranges.flatMap(({ start, end }) => pagesOf(number, start, end, pageRows));
    };
    const unused = (): never => {
      throw new Error("only times are read here");
    };
    this.source = {
      times: async (ranges) => pieces(ranges),
      addRuns: unused,
      column: unused,
      timesAtHand: unused,
      columnAtHand: unused,
      timesAt: unused,
      columnAt: unused,
      latest: 0,
      newestOfAll: unused,
      pageEnd: unused,
      tombstones: unused,
      prune: unused,
      summarise: unused,
      holdsNothing: unused,
      mayHold: unused,
    };
  }
}

function pieceOf(values: readonly number[]): Piece {
  return { vector: { kind: "number", values: Float64Array.from(values), validity: undefined }, from: 0, to: values.length };
}

function pagesOf(number: number, start: number, end: number, pageRows: number): Piece[] {
  const found: Piece[] = [];
  for (let at = start; at < end; ) {
    const page = Math.floor(at / pageRows) * pageRows;
    const to = Math.min(end, page + pageRows);
    const { vector } = pieceOf(Array.from({ length: pageRows }, (_, i) => valueOf(number, page + i)));
    found.push({ vector, from: at - page, to: to - page });
    at = to;
  }
  return found;
}

function rowsOf(pieces: readonly Piece[]): number[] {
  return pieces.flatMap(({ vector, from, to }) => {
    if (vector?.kind !== "number") throw new Error("pieces of this test are numbers");
    return [...vector.values.subarray(from, to)];
  });
}

async function check(segments: readonly SourceRange[], pageRows: readonly (number | undefined)[], asked: readonly number[]): Promise<void> {
  const counted = pageRows.map((rows, number) => new Counted(number, rows));
  const sources = counted.map(({ source }) => source);
  const pieces = await readInterleaved(sources, segments, (source, ranges) => source.times(ranges));
  expect(rowsOf(pieces)).toEqual(
    segments.flatMap(({ source, start, end }) => Array.from({ length: end - start }, (_, i) => valueOf(source, start + i))),
  );
  expect(counted.map((each) => each.asked)).toEqual([...asked]);
}

const segment = (source: number, start: number, end: number): SourceRange => ({ source, start, end });

test("each source is asked once, and its rows come in the order of the segments", async () => {
  await check([segment(1, 0, 3), segment(0, 5, 9), segment(1, 3, 4), segment(0, 9, 20)], [4, 10, 10], [1, 1, 0]);
});

test("a piece that holds rows of several segments is dealt out in parts", async () => {
  await check([segment(0, 0, 3), segment(1, 0, 2), segment(0, 7, 8), segment(1, 9, 12)], [undefined, undefined], [1, 1]);
});

test("segments of one source, and none, are answered as they are", async () => {
  await check([segment(1, 2, 9), segment(1, 20, 21)], [4, 4], [0, 1]);
  await check([], [4, 4], [0, 0]);
});

test("any segments of any sources", async () => {
  const segments = fc.array(
    fc
      .record({ source: fc.nat(2), start: fc.nat(50), rowCount: fc.integer({ min: 1, max: 30 }) })
      .map(({ source, start, rowCount }) => segment(source, start, start + rowCount)),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(
      segments,
      fc.array(fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }), { minLength: 3, maxLength: 3 }),
      async (...drawn) => {
        const [drawnSegments, pages] = drawn;
        await check(
          drawnSegments,
          pages,
          [0, 1, 2].map((s) => (drawnSegments.some(({ source }) => source === s) ? 1 : 0)),
        );
      },
    ),
    { seed: 41, numRuns: 200 },
  );
});
