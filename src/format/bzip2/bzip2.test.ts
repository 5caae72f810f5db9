import { describe, expect, test } from "bun:test";
import { CODEC_SAMPLES, inPieces, joined } from "../../../test/support/byte-streams.ts";
import { compressBzip2, decompressBzip2 } from "./bzip2.ts";

/** `host,usage`, then 400 lines `a<i % 7>,<i>`, packed by the reference tool at its highest level. */
const REFERENCE =
  "QlpoOTFBWSZTWVNeXmUABUPZgAAQAAR/4CLAjgBQBIAYBeKFChxU003pP9UlUBGKBpoZMTBFT8H6qkAAKYTTQGmIND1U2T0lVNMD81vrj8d97+AQaA2HwPgb" +
  "M5OMjMkk3GABxkAo9AQaYBgVVVVVTAHGRgAcZAKPWAMlVVSqoyAcYAHpgFDjLACRVVVbDQEHoCjIBxhMj4SRVVXwPgbDQEHoCjOYNCSRVVoDYfA+BsNAQzlR" +
  "6J5umzz44BAAUGAwoAgASDQsWBqQCAAoMBOFGggASDQsWBqQCAAoMBhQBAAkGhVi8BqQCAAoMBhQBAAkGhYsDUgEABd3YCgwGFAEACQaFiwT/tVW7fm3exV3" +
  "u4+Mwbg2gn6x5jzy65VUqqqpVVVVVSqqqlVLM+zOmbt37d23m7zb18dW2+W2+ehKI7fvSoUgRCAEoAFCmQpQiQpQpKJUIKJUKQIhAEQp5znKddk0JC7irvdy" +
  "73fsG++Yx552pzShTIUoRIUoUlEqEFEqFIEQgBKABQpkKUIkKUKune9z3vcdtu7fzd229vubt7e7zfQlEae5KhBRKhSBEIASgAUKZClCJClCkolQgolQpAiF" +
  "3vb531zvdwbQSPiQXOVdzvmMeeJ9zGtaxoABAACAAEAgFmczz93nrG3y23zttu7fzd229v0JRGl6gABAACAQAAgADs9793H53693m2Nvltvnbbd2/m79CURv" +
  "L8AIBAACAAEAAI1rmfec4rvd3yruXV3u5obg3yCLreta0gABAACAQAAgFmczO9+3btt83ubt7m7t2Nu7bfM5rQAAgEAAIAAQABOZmZ3Xzbfze5u7zN3ebbbu" +
  "xt3W85iAAEAAIAAQCAqqP/SShKrsmPxGuyLuSKcKEgpry8yg";

/** "hello " and "world", each a stream of its own. */
const TWO_STREAMS = "QlpoOTFBWSZTWXZp4NQAAAERAEAAAkSgADDNAMNGKZcXckU4UJB2aeDUQlpoOTFBWSZTWVnOe8sAAAIBgAQEkIAgADDNAMGkwHF3JFOFCQWc57yw";

const unpacked = async (base64: string): Promise<string> =>
  new TextDecoder().decode(await joined(decompressBzip2(inPieces(Uint8Array.fromBase64(base64), 5))));

describe("packs and unpacks", () => {
  for (const [name, sample] of Object.entries(CODEC_SAMPLES)) {
    test(name, async () => {
      const packed = await joined(compressBzip2(inPieces(sample, 1000)));
      const back = await joined(decompressBzip2(inPieces(packed, 777)));
      expect(Buffer.compare(back, sample)).toBe(0);
    });
  }
});

test("makes repetitive content small", async () => {
  const lines = CODEC_SAMPLES["lines"] ?? new Uint8Array(0);
  expect((await joined(compressBzip2(inPieces(lines, 5000)))).length).toBeLessThan(lines.length / 3);
});

test("reads what the reference tool writes", async () => {
  const lines = Array.from({ length: 400 }, (_, i) => `a${i % 7},${i}\n`);
  expect(await unpacked(REFERENCE)).toBe(`host,usage\n${lines.join("")}`);
  expect(await unpacked(TWO_STREAMS)).toBe("hello world");
});

test("refuses what is cut off, anywhere", async () => {
  const whole = Uint8Array.fromBase64(REFERENCE);
  for (let length = 1; length < whole.length; length += 7) {
    const cut = joined(decompressBzip2(inPieces(whole.subarray(0, length), 100)));
    expect(
      await cut.then(
        () => "taken",
        () => "refused",
      ),
    ).toBe("refused");
  }
});

test("never gives other bytes for a changed one", async () => {
  const whole = Uint8Array.fromBase64(REFERENCE);
  const want = await joined(decompressBzip2(inPieces(whole, 1000)));
  for (let at = 0; at < whole.length; at += 3) {
    const damaged = whole.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    const got = await joined(decompressBzip2(inPieces(damaged, 1000))).catch((error: unknown) => error);
    // Some bits mean nothing, such as the length of a code that is not used.
    if (!(got instanceof Error)) expect(got).toEqual(want);
  }
});
