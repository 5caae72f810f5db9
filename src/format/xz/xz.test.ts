import { describe, expect, test } from "bun:test";
import { CODEC_SAMPLES, inPieces, joined } from "../../../test/support/byte-streams.ts";
import { compressXz, decompressXz } from "./xz.ts";

/** `host,usage`, then 400 lines `a<i % 7>,<i>`, packed by the reference tool at its highest level. */
const REFERENCE =
  "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4AqMAkJdADQbys4dc9qNR5tj+KZJuO1kxjibQAIom2zrK6v1DkeBpszqTwShvCKCjZDVNw9PSI8AER3d0wsdw0e9" +
  "8cucvQ1X4U4SEnjgBvdHqVDUD/HfrXcSC8a0mTPnsZyhM/nlknLYq2/LDw3ZQJn7iFU9ZpC/u7vHkMtShJdFDQZZ4csFbKWdTK3+yLIN9dxB8wf5rRbrUgBl" +
  "IuKfP7YuVDBwp7sY6d5XgqeCQeMXNopbBJJY/GTNaqB9V+Wr1yofjUv9Mb+U5bboDyXhiL2x59d/5A63RLsDCT+i8dLBib8sH+cwO0NwA4XooRsrWboM7FnP" +
  "crg/DL7L+jHmiSU7v4L3PfcZkXCt7AGnzhM1mHz9QvyNQh6VT592FsLPA0AmFj1u85AQxc5DEoBFJyC58MIT+Etc0aBtVRZdkwK4LDgtfNASmNKeHiBvD+Vt" +
  "kBJADMAgmC3k6H4GXy/GhmsB3cetO6HOlYQFVY+X924BHwJY+awa0BNcsVv6V9TfNSByqwQgXXrVBPDAo+Nb8Z1BFJf2/F40jaAYuGe8O0TLQHWf1AjKvbCw" +
  "jUSa++ClkNo1CRCYn0CnckUgwkPv01i41kPJgq9GGfNG3ir5mNEPcqpZ4irk9eNvQnYFNO6ErSUVIkdC0zqWFKI5w2n/3Tcj52INCkFrr9xFbysdUYiFW0lz" +
  "8BgLHUAR2vceBmu1xyUFuwILGwilLMdTiggeVBkjQBTZdAoU12gts/seHHvRi86s+lG43OJCgqeAM/d8ClGMCGuxiWwAAAAANrs5K/aIirYAAd4EjRUAAD8A" +
  "PxuxxGf7AgAAAAAEWVo=";

/** "hello " and "world", each a stream of its own. */
const TWO_STREAMS =
  "/Td6WFoAAArh+wyhAgAhARYAAAB0L+WjAQAFaGVsbG8gAAAAXjI1qDRuWkWF+MWFYvUFK4/iajuxIuHpbHZ4SWTfxGEAATYGa4H5QBibS5oBAA" +
  "AAAApZWgAAAAD9N3pYWgAAAP8S2UECACEBFgAAAHQv5aMBAAR3b3JsZAAAAAAAARUFsKdZZwZynnoBAAAAAABZWg==";

const unpacked = async (base64: string): Promise<string> =>
  new TextDecoder().decode(await joined(decompressXz(inPieces(Uint8Array.fromBase64(base64), 5))));

describe("packs and unpacks", () => {
  for (const [name, sample] of Object.entries(CODEC_SAMPLES)) {
    test(name, async () => {
      const packed = await joined(compressXz(inPieces(sample, 1000)));
      const back = await joined(decompressXz(inPieces(packed, 777)));
      expect(Buffer.compare(back, sample)).toBe(0);
    });
  }
});

test("makes repetitive content small", async () => {
  const lines = CODEC_SAMPLES["lines"] ?? new Uint8Array(0);
  expect((await joined(compressXz(inPieces(lines, 5000)))).length).toBeLessThan(lines.length / 3);
});

test("reads what the reference tool writes", async () => {
  const lines = Array.from({ length: 400 }, (_, i) => `a${i % 7},${i}\n`);
  expect(await unpacked(REFERENCE)).toBe(`host,usage\n${lines.join("")}`);
  expect(await unpacked(TWO_STREAMS)).toBe("hello world");
});

test("refuses what is cut off, anywhere", async () => {
  const whole = Uint8Array.fromBase64(REFERENCE);
  for (let length = 1; length < whole.length; length += 7) {
    const cut = joined(decompressXz(inPieces(whole.subarray(0, length), 100)));
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
  const want = await joined(decompressXz(inPieces(whole, 1000)));
  for (let at = 0; at < whole.length; at += 3) {
    const damaged = whole.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    const got = await joined(decompressXz(inPieces(damaged, 1000))).catch((error: unknown) => error);
    // Some bits mean nothing, such as the length of a code that is not used.
    if (!(got instanceof Error)) expect(got).toEqual(want);
  }
});
