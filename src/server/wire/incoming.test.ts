import { expect, test } from "bun:test";
import { type Framing, FramingError, Incoming } from "./incoming.ts";

/** Two bytes of length, which count themselves. */
const framing: Framing = { headerBytes: 2, lengthOf: (bytes, at) => (bytes[at]! << 8) | bytes[at + 1]! };

const message = (length: number, fill: number): Uint8Array => {
  const bytes = new Uint8Array(length).fill(fill);
  bytes.set([length >> 8, length & 255]);
  return bytes;
};

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const room = { take: () => true, give: () => undefined };

test("gives the same messages however they are cut", () => {
  const messages = [message(2, 1), message(5, 2), message(40, 3), message(3, 4)];
  const all = join(messages);
  for (let first = 0; first <= all.length; first++) {
    for (let second = first; second <= all.length; second++) {
      const incoming = new Incoming(framing, 100, room);
      const found: Uint8Array[] = [];
      for (const [from, to] of [
        [0, first],
        [first, second],
        [second, all.length],
      ] as const) {
        incoming.push(all.slice(from, to));
        for (let next = incoming.next(); next !== undefined; next = incoming.next()) found.push(next.slice());
      }
      expect(found).toEqual(messages);
      expect(incoming.length).toBe(0);
    }
  }
});

test("a message that lies whole in a chunk is a view of it", () => {
  const incoming = new Incoming(framing, 100, room);
  const chunk = message(10, 7);
  incoming.push(chunk);
  expect(incoming.next()?.buffer).toBe(chunk.buffer);
});

test("refuses lengths that are senseless or too long, before more comes in", () => {
  for (const header of [
    [0, 0],
    [0, 1],
    [1, 0],
    [255, 255],
  ]) {
    for (const cut of [1, 2]) {
      const incoming = new Incoming(framing, 100, room);
      incoming.push(Uint8Array.from(header.slice(0, cut)));
      if (cut === 1) {
        expect(incoming.next()).toBeUndefined();
        incoming.push(Uint8Array.from(header.slice(1)));
      }
      expect(() => incoming.next()).toThrow(FramingError);
    }
  }
});

test("takes memory as bytes come in, not as a header promises", () => {
  const long: Framing = { headerBytes: 4, lengthOf: (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at) };
  const incoming = new Incoming(long, 2 ** 31, room);
  incoming.push(Uint8Array.of(0x7f, 0, 0, 0));
  expect(incoming.next()).toBeUndefined();
  expect(incoming.length).toBe(4);
});

test("gives away what it has when somebody takes over", () => {
  const incoming = new Incoming(framing, 100, room);
  incoming.push(Uint8Array.of(0));
  expect(incoming.next()).toBeUndefined();
  incoming.push(Uint8Array.of(9, 9));
  expect([...incoming.rest()]).toEqual([0, 9, 9]);
  expect(incoming.length).toBe(0);
});
