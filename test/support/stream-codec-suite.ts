/** What every codec of byte streams must do. Called by the codec's own test file with what the reference tool wrote. */
import { describe, expect, test } from "bun:test";
import { CODEC_SAMPLES, inPieces, joined } from "./byte-streams.ts";

/** A codec, and what the reference tool of its format makes. */
export interface StreamCodec {
  readonly compress: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  readonly decompress: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** `host,usage`, then 400 lines `a<i % 7>,<i>`, packed at the highest level; base64. */
  readonly reference: string;
  /** "hello " and "world", each a stream of its own, one after the other; base64. */
  readonly twoStreams: string;
}

/** Declares the tests. */
export function testStreamCodec({ compress, decompress, reference, twoStreams }: StreamCodec): void {
  const unpacked = async (base64: string): Promise<string> =>
    new TextDecoder().decode(await joined(decompress(inPieces(Uint8Array.fromBase64(base64), 5))));

  describe("packs and unpacks", () => {
    for (const [name, sample] of Object.entries(CODEC_SAMPLES)) {
      test(name, async () => {
        const packed = await joined(compress(inPieces(sample, 1000)));
        const back = await joined(decompress(inPieces(packed, 777)));
        expect(Buffer.compare(back, sample)).toBe(0);
      });
    }
  });

  test("makes repetitive content small", async () => {
    const lines = CODEC_SAMPLES["lines"] ?? new Uint8Array(0);
    expect((await joined(compress(inPieces(lines, 5000)))).length).toBeLessThan(lines.length / 3);
  });

  test("reads what the reference tool writes", async () => {
    const lines = Array.from({ length: 400 }, (_, i) => `a${i % 7},${i}\n`);
    expect(await unpacked(reference)).toBe(`host,usage\n${lines.join("")}`);
    expect(await unpacked(twoStreams)).toBe("hello world");
  });

  test("refuses what is cut off, anywhere", async () => {
    const whole = Uint8Array.fromBase64(reference);
    for (let length = 1; length < whole.length; length += 7) {
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
    for (let at = 0; at < whole.length; at += 3) {
      const damaged = whole.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      const got = await joined(decompress(inPieces(damaged, 1000))).catch((error: unknown) => error);
      // Some bits mean nothing, such as the length of a code that is not used.
      if (!(got instanceof Error)) expect(got).toEqual(want);
    }
  });
}
