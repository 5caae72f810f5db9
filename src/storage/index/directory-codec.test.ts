import { describe, expect, test } from "bun:test";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { decodeDirectory, encodeDirectory, type IndexEntry } from "./directory-codec.ts";

const ENTRIES: readonly IndexEntry[] = [
  {
    columnId: 4,
    kind: "values",
    pieces: [
      { rowCount: 10_240, offset: 2 ** 40, length: 64, checksum: 0xffffffff },
      { rowCount: 1, offset: 0, length: 0, checksum: 0 },
    ],
  },
  { columnId: 4_000_000_000, kind: "list", pieces: [] },
  { columnId: 5, kind: "words", pieces: [{ rowCount: 5, offset: 4, length: 32, checksum: 1 }] },
];

test("a directory comes back", () => {
  expect(decodeDirectory(encodeDirectory(ENTRIES))).toEqual(ENTRIES);
  expect(decodeDirectory(encodeDirectory([]))).toEqual([]);
});

test("a kind that is not known is left out", () => {
  const bytes = encodeDirectory(ENTRIES);
  bytes[4 + 1 + 4] = 99; // The kind of the first index.
  expect(decodeDirectory(bytes)).toEqual(ENTRIES.slice(1));
});

describe("is refused", () => {
  test("when it is cut anywhere", () => {
    const bytes = encodeDirectory(ENTRIES);
    for (let length = 0; length < bytes.length; length++) expect(() => decodeDirectory(bytes.subarray(0, length))).toThrow();
  });
  test("with bytes left over", () => {
    expect(() => decodeDirectory(Uint8Array.of(...encodeDirectory(ENTRIES), 0))).toThrow("1 bytes before its blob");
  });
  test("of a later version", () => {
    const bytes = encodeDirectory([]);
    bytes[0] = 2;
    expect(() => decodeDirectory(bytes)).toThrow("version 2");
  });
  test("with more pieces than bytes", () => {
    const out = new ByteWriter();
    out.u32(1);
    out.varint(1);
    out.u32(1);
    out.u8(0);
    out.varint(2 ** 40);
    expect(() => decodeDirectory(out.copy())).toThrow("pieces in 0 bytes");
  });
});
