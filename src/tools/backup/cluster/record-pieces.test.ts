import { expect, test } from "bun:test";
import { errorOf } from "../../../../test/support/failure-of.ts";
import type { StreamMessage } from "../../../cluster/port/message.ts";
import { logPieces, recordsOf } from "./record-pieces.ts";

const MESSAGES: readonly StreamMessage[] = [[1, 2, 3], [], [4], Array.from({ length: 300 }, (_, i) => i % 251)].map((bytes, i) => ({
  number: 8 + i,
  bytes: Uint8Array.from(bytes),
}));

const LOG = {
  async *follow(_: number, after: number): AsyncGenerator<readonly StreamMessage[]> {
    for (const message of MESSAGES) if (message.number > after) yield [message];
    yield [{ number: 12, bytes: new Uint8Array(5) }];
    throw new Error("nobody reads on");
  },
};
const NEVER = new AbortController().signal;

async function bytesOf(from: number, last: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of logPieces(LOG, { shard: 0, from, last }, NEVER)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function read(...pieces: readonly Uint8Array[]): Promise<number[][]> {
  const found: number[][] = [];
  for await (const record of recordsOf(
    (async function* () {
      yield* pieces;
    })(),
  ))
    found.push([...record]);
  return found;
}

test("messages are those behind one up to another, however the object is cut", async () => {
  const bytes = await bytesOf(7, 11);
  const want = MESSAGES.map((message) => [...message.bytes]);
  for (let cut = 0; cut <= bytes.length; cut++) expect(await read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(want);
  expect(await read(await bytesOf(8, 10))).toEqual(want.slice(1, 3));
  expect(await read(await bytesOf(9, 9))).toEqual([]);
});

test("what ends within a message, or begins no message, is refused", async () => {
  const bytes = await bytesOf(7, 11);
  expect((await errorOf(read(bytes.subarray(0, -1)))).message).toContain("it ends within a message");
  expect((await errorOf(read(Buffer.from([0xff, 0xff, 0xff, 0xff])))).message).toContain("longer than any");
});
