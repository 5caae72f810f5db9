import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bytesField } from "../../../../../test/support/prometheus/messages.ts";
import { decodeSnappy } from "../../../../format/snappy/decode.ts";
import { messagePieces, snappyPieces } from "./snappy-pieces.ts";

/** The block of these results holds what a message written at once would. */
function check(results: readonly (readonly Uint8Array[])[]): void {
  const { length, parts } = messagePieces(results);
  const want = Buffer.concat(
    results.map((messages) =>
      Buffer.from(
        bytesField(
          1,
          messages.flatMap((message) => bytesField(1, message)),
        ),
      ),
    ),
  );
  expect(length).toBe(want.length);
  const pieces = [...snappyPieces({ length, parts })];
  expect(Buffer.compare(decodeSnappy(Buffer.concat(pieces), 1 << 24), want)).toBe(0);
}

describe("a block made of pieces decodes to the whole message", () => {
  test("when there is nothing, and when nothing is in it", () => {
    check([]);
    check([[], []]);
    check([[new Uint8Array(0)]]);
  });

  test("when a message is as long as a piece, a byte less or more, or spans many", () => {
    for (const length of [1, 127, 128, 65_535, 65_536, 65_537, 300_000]) {
      check([
        [Uint8Array.from({ length }, (_, i) => i % 251)],
        [Uint8Array.from({ length }, (_, i) => Math.imul(i, 2_654_435_761) >>> 24)],
      ]);
    }
  });

  test("for any messages", () => {
    const message = fc.uint8Array({ maxLength: 300 });
    fc.assert(fc.property(fc.array(fc.array(message, { maxLength: 5 }), { maxLength: 4 }), check), { seed: 20_261_121, numRuns: 200 });
  });
});
