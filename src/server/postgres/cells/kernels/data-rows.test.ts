import { expect, test } from "bun:test";
import fc from "fast-check";
import { arbitraryColumns, cellsOf } from "../../../../../test/support/wire-cells.ts";
import { Outgoing } from "../../../wire/outgoing.ts";
import { writeRows } from "./data-rows.ts";

const LETTER = 0x44;

/** A row's message: letter, length, columns, then each cell behind its length, -1 for NULL. */
function naive(row: readonly (string | undefined)[]): Buffer {
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const body = Buffer.concat(row.flatMap((text) => (text === undefined ? [word(-1)] : [word(text.length), Buffer.from(text)])));
  return Buffer.concat([Buffer.from([LETTER]), word(body.length + 6), Buffer.from([0, row.length]), body]);
}

test("rows are messages of their cells, whether they are few or many", () => {
  fc.assert(
    fc.property(
      arbitraryColumns(0),
      fc.constantFrom(1, 15, 16, 40, 700),
      fc.constantFrom(1, 2000, 1_000_000),
      (lists, rowCount, bytesMax) => {
        const cells = lists.map((list) => cellsOf(list, rowCount));
        const outgoing = new Outgoing({ write: (_, done) => done() });
        for (let row = 0; row < rowCount; ) row = writeRows(cells, row, rowCount, outgoing, LETTER, bytesMax);
        const want = Array.from({ length: rowCount }, (_, row) => naive(lists.map((list) => list[row % list.length])));
        expect(Buffer.compare(outgoing.bytes.subarray(0, outgoing.used), Buffer.concat(want))).toBe(0);
      },
    ),
    { seed: 44, numRuns: 150 },
  );
});
