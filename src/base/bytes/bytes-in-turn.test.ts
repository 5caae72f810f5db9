import { expect, test } from "bun:test";
import { BytesInTurn } from "./bytes-in-turn.ts";

test("a piece stays as it is while the next is written, whatever their lengths", () => {
  const room = new BytesInTurn();
  let before: Uint8Array | undefined;
  for (const [i, length] of [10, 3, 500, 20, 501, 0, 1000, 1000, 1, 1100].entries()) {
    const piece = room.take(length);
    expect(piece.length).toBeGreaterThanOrEqual(length);
    piece.fill(i + 1);
    expect(before?.every((byte) => byte === i) ?? true).toBe(true);
    before = piece;
  }
});

test("pieces of about one length lie on two pieces of memory", () => {
  const room = new BytesInTurn();
  const pieces = Array.from({ length: 40 }, (_, i) => room.take(1000 - (i % 7)).buffer);
  expect(new Set(pieces.slice(20)).size).toBe(2);
});
