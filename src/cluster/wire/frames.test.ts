import { expect, test } from "bun:test";
import fc from "fast-check";
import { attemptDamaged } from "../../../test/support/mutations.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { FRAME, type Frame, FrameReader, writeFrame, writeHead } from "./frames.ts";

function answerOf(frames: readonly Frame[]): Uint8Array {
  const out = new ByteWriter();
  writeHead(out);
  for (const frame of frames) writeFrame(frame, out);
  return out.copy();
}

/** The frames of an answer that comes in pieces. */
function framesOf(pieces: readonly Uint8Array[]): { readonly frames: readonly string[]; readonly isBetween: boolean } {
  const reader = new FrameReader("node a");
  const frames: string[] = [];
  for (const piece of pieces) {
    reader.add(piece);
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(`${frame.kind} ${frame.payload.toHex()}`);
  }
  return { frames, isBetween: reader.isBetween };
}

const someFrames = fc.array(fc.record({ kind: fc.constantFrom(...Object.values(FRAME)), payload: fc.uint8Array({ maxLength: 300 }) }), {
  maxLength: 8,
});

test("frames come back, however the bytes are cut", () => {
  fc.assert(
    fc.property(someFrames, fc.array(fc.nat(40), { minLength: 1 }), (frames, steps) => {
      const whole = answerOf(frames);
      const pieces: Uint8Array[] = [];
      for (let from = 0, i = 0; from < whole.length; i++) {
        const to = from + (steps[i % steps.length] as number) + 1;
        pieces.push(whole.subarray(from, to));
        from = to;
      }
      const read = framesOf(pieces);
      expect(read).toEqual({ frames: frames.map(({ kind, payload }) => `${kind} ${payload.toHex()}`), isBetween: true });
    }),
    { seed: 7, numRuns: 200 },
  );
});

test("an answer that ends within a frame, or within its head, is not at an end", () => {
  const whole = answerOf([{ kind: FRAME.rows, payload: Uint8Array.of(1, 2, 3) }]);
  for (let end = 0; end < whole.length; end++) expect(framesOf([whole.subarray(0, end)]).isBetween).toBe(end === 4);
});

test("damaged answers are refused or read as others, and nothing else happens", () => {
  const good = answerOf([
    { kind: FRAME.series, payload: new Uint8Array(20).fill(7) },
    { kind: FRAME.end, payload: new Uint8Array(5) },
  ]);
  attemptDamaged(good, { seed: 3, numRuns: 500 }, (bytes) => {
    try {
      framesOf([bytes]);
    } catch (error) {
      expect(error).toBeInstanceOf(DbError);
    }
  });
});

test("a length takes no memory before the bytes are there", () => {
  const reader = new FrameReader("node a");
  const out = new ByteWriter();
  writeHead(out);
  out.u32(0xffff_ffff);
  out.u8(FRAME.rows);
  reader.add(out.copy());
  expect(() => reader.next()).toThrow("a frame is said to have 4294967295 bytes");
});

test("a newer version is refused by its number", () => {
  const bytes = answerOf([]);
  bytes[2] = 9;
  let thrown: unknown;
  try {
    framesOf([bytes]);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({
    code: StatusCode.Unsupported,
    message: "cannot read the answer of node a: it is of version 9, and this server reads versions 1 to 1; update this server",
  });
});
