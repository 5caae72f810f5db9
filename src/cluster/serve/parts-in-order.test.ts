import { expect, test } from "bun:test";
import { FRAME, type Frame } from "../wire/frames.ts";
import { partsInOrder } from "./parts-in-order.ts";

/** A part of some frames, which tells what becomes of it. */
async function* part(name: number, frames: number, told: string[]): AsyncGenerator<Frame> {
  told.push(`${name} begins`);
  try {
    for (let i = 0; i < frames; i++) yield { kind: FRAME.rows, payload: Uint8Array.of(name, i) };
    yield { kind: FRAME.end, payload: Uint8Array.of(name) };
  } finally {
    told.push(`${name} is over`);
  }
}

test("all begin before the first frame, and each is sent to its end before the next", async () => {
  const told: string[] = [];
  const sent: string[] = [];
  for await (const { kind, payload } of partsInOrder([part(0, 2, told), part(1, 0, told), part(2, 1, told)])) {
    if (sent.length === 0) expect(told).toEqual(["0 begins", "1 begins", "2 begins"]);
    sent.push(`${kind} ${payload.toHex()}`);
  }
  expect(sent).toEqual(["2 0000", "2 0001", "3 00", "3 01", "2 0200", "3 02"]);
  expect(told.slice(3)).toEqual(["0 is over", "1 is over", "2 is over"]);
});

test("whoever leaves ends all that began", async () => {
  const told: string[] = [];
  for await (const _ of partsInOrder([part(0, 2, told), part(1, 2, told)])) break;
  expect(told.slice(2).sort()).toEqual(["0 is over", "1 is over"]);
});

test("a part that throws ends the others, and is heard", async () => {
  const told: string[] = [];
  // oxlint-disable-next-line require-yield
  const failing = async function* (): AsyncGenerator<Frame> {
    throw new Error("a bug");
  };
  const read = async (): Promise<void> => {
    for await (const _ of partsInOrder([part(0, 1, told), failing(), part(2, 1, told)]));
  };
  expect(read()).rejects.toThrow("a bug");
  await Bun.sleep(1);
  expect(told.slice(2).sort()).toEqual(["0 is over", "2 is over"]);
});
