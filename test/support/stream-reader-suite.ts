/** What every reader of packed streams must do. Called by the reader's own test file with what the program of the format wrote. */
import { RoundCount } from "./round-count.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { Pace } from "../../src/base/scheduler/pace.ts";
import { describe, expect, test } from "bun:test";
import { inPieces, joined, PACKED_SAMPLES, type PackedSample } from "./byte-streams.ts";

/** A reader, and what the program of its format makes, each in base64. */
export interface StreamReader {
  readonly decompress: (pieces: AsyncIterable<Uint8Array>, pace: Pace) => AsyncIterable<Uint8Array>;
  /** `host,usage`, then 400 lines `a<i % 7>,<i>`, packed at the highest level. */
  readonly reference: string;
  /** "hello " and "world", each a stream of its own, one after the other. */
  readonly twoStreams: string;
  /** 9,400,000 zeros. */
  readonly zeros: string;
  /** `PACKED_SAMPLES`, by name. */
  readonly samples: Readonly<Record<PackedSample, string>>;
}

/** Longest piece that goes out. Reason: it lies in memory, and is unpacked in one range. */
const PIECE_BYTES_MAX: number = 256 * 1024;
const ZEROS = 9_400_000;

/** Bytes from one damage to the next: 80 of them, since a reader may take some milliseconds to begin. Odd, so that all parts are met. */
const stepOf = (whole: Uint8Array): number => 2 * Math.ceil(whole.length / 160) + 1;

/** Declares the tests. */
export function testStreamReader({ decompress: reader, reference, twoStreams, zeros, samples }: StreamReader): void {
  const decompress = (pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => reader(pieces, new Pace(new Scheduler()));
  const from = (base64: string, step: number): AsyncIterable<Uint8Array> => decompress(inPieces(Uint8Array.fromBase64(base64), step));
  const textOf = async (base64: string): Promise<string> => new TextDecoder().decode(await joined(from(base64, 5)));

  describe("unpacks", () => {
    for (const [name, sample] of Object.entries(PACKED_SAMPLES)) {
      test(name, async () => {
        expect(Buffer.compare(await joined(from(samples[name as PackedSample], 777)), sample)).toBe(0);
      });
    }
  });

  test("reads what the program of the format writes, in one stream or two", async () => {
    const lines = Array.from({ length: 400 }, (_, i) => `a${i % 7},${i}\n`);
    expect(await textOf(reference)).toBe(`host,usage\n${lines.join("")}`);
    expect(await textOf(twoStreams)).toBe("hello world");
  });

  test("gives out the many bytes of a few in short pieces, with turns for others in between", async () => {
    const turns = new RoundCount();
    let bytes = 0;
    for await (const piece of from(zeros, 1000)) {
      expect(piece.length).toBeLessThanOrEqual(PIECE_BYTES_MAX);
      bytes += piece.length;
    }
    turns.stop();
    expect(bytes).toBe(ZEROS);
    expect(turns.round).toBeGreaterThan(1);
  });

  test("takes no more of its input once nobody reads on, and two streams are read side by side", async () => {
    let isClosed = false;
    const source = async function* (): AsyncIterable<Uint8Array> {
      try {
        yield* inPieces(Uint8Array.fromBase64(zeros), 100);
      } finally {
        isClosed = true;
      }
    };
    const first = decompress(source())[Symbol.asyncIterator]();
    await first.next();
    expect(await textOf(twoStreams)).toBe("hello world");
    await first.return?.();
    expect(isClosed).toBe(true);
  });

  test("refuses what is cut off, anywhere", async () => {
    const whole = Uint8Array.fromBase64(reference);
    for (let length = 1; length < whole.length; length += stepOf(whole)) {
      const cut = joined(decompress(inPieces(whole.subarray(0, length), 100)));
      expect(
        await cut.then(
          () => "taken",
          () => "refused",
        ),
      ).toBe("refused");
    }
  });

  test("never gives other bytes for a changed one", async () => {
    const whole = Uint8Array.fromBase64(reference);
    const want = await joined(decompress(inPieces(whole, 1000)));
    for (let at = 0; at < whole.length; at += stepOf(whole)) {
      const damaged = whole.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      const got = await joined(decompress(inPieces(damaged, 1000))).catch((error: unknown) => error);
      // Some bits mean nothing, such as the length of a code that is not used.
      if (!(got instanceof Error)) expect(got).toEqual(want);
    }
  });
}
