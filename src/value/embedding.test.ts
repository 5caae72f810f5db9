import { expect, test } from "bun:test";
import fc from "fast-check";
import { embeddingOfText, embeddingText } from "./embedding.ts";

function check(text: string, dimension: number | undefined, want: string): void {
  const parsed = embeddingOfText(text, dimension);
  expect([text, parsed.ok ? embeddingText(parsed.bytes) : parsed.why]).toEqual([text, want]);
}

test("reads and prints", () => {
  check("[1.0, 2.0, 3.0]", 3, "[1,2,3]");
  check(" [ -0.5,.25 ] ", 2, "[-0.5,0.25]");
  check(
    "[0.1, 1e-7, 1.5e-40, 3.4028235e38, 16777217]",
    undefined,
    "[0.1,0.0000001,0.00000000000000000000000000000000000000015,340282346638528859811704183484516925440,16777216]",
  );
  check("[inf, -Infinity, NaN]", 3, "[inf,-inf,NaN]");
  check("[]", undefined, "[]");
});

test("bytes are little-endian floats", () => {
  const parsed = embeddingOfText("[1, -2]", 2);
  expect(parsed.ok && parsed.bytes.toHex()).toBe("0000803f000000c0");
});

test("refuses what is no vector of the dimension", () => {
  check("[1.0]", 3, "wrong dimension");
  check("[]", 3, "wrong dimension");
  check("1.0,2.0,3.0", 3, "not properly enclosed in brackets");
  check("[1,2", 2, "not properly enclosed in brackets");
  check("[", 2, "not properly enclosed in brackets");
  check("", 2, "not properly enclosed in brackets");
  check("[30h, 40s, 50m]", 3, "elements are not all float32");
  check("[1,,2]", 3, "elements are not all float32");
  check("[1,2,]", 3, "elements are not all float32");
  check("[[1],[2]]", 2, "elements are not all float32");
});

test("every float comes back from its text", () => {
  fc.assert(
    fc.property(fc.array(fc.float({ noNaN: true }), { maxLength: 5 }), (values) => {
      const bytes = new Uint8Array(Float32Array.from(values).buffer);
      const parsed = embeddingOfText(embeddingText(bytes), values.length);
      expect(parsed).toEqual({ ok: true, bytes });
    }),
    { seed: 32, numRuns: 300 },
  );
});
