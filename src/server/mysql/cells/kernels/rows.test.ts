import { expect, test } from "bun:test";
import fc from "fast-check";
import { arbitraryColumns, cellsOf } from "../../../../../test/support/wire-cells.ts";
import { Outgoing } from "../../../wire/outgoing.ts";
import { PacketWriter } from "../../codec.ts";
import { writeRows } from "./rows.ts";

/** A row's packet: header, then each cell behind its length. */
function naive(row: readonly (string | undefined)[], sequence: number): Buffer {
  const parts = row.map((text) => {
    if (text === undefined) return Buffer.from([0xfb]);
    const head = text.length < 0xfb ? [text.length] : [0xfc, text.length & 0xff, text.length >> 8];
    return Buffer.concat([Buffer.from(head), Buffer.from(text)]);
  });
  const payload = Buffer.concat(parts);
  const { length } = payload;
  return Buffer.concat([Buffer.from([length & 0xff, (length >> 8) & 0xff, length >> 16, sequence & 0xff]), payload]);
}

test("rows of text are packets of their cells, whether they are few or many", () => {
  fc.assert(
    fc.property(
      arbitraryColumns(1),
      fc.constantFrom(1, 15, 16, 40, 700),
      fc.constantFrom(1, 2000, 1_000_000),
      (lists, rowCount, bytesMax) => {
        const cells = lists.map((list) => cellsOf(list, rowCount));
        const outgoing = new Outgoing({ write: (_, done) => done() });
        const packets = new PacketWriter(outgoing);
        const first = packets.sequence;
        const haveLength = cells.map(() => true);
        for (let row = 0; row < rowCount; ) row = writeRows(cells, haveLength, false, row, rowCount, packets, bytesMax);
        const want = Array.from({ length: rowCount }, (_, row) =>
          naive(
            lists.map((list) => list[row % list.length]),
            first + row,
          ),
        );
        expect(Buffer.compare(outgoing.bytes.subarray(0, outgoing.used), Buffer.concat(want))).toBe(0);
      },
    ),
    { seed: 43, numRuns: 150 },
  );
});
