import { expect, test } from "bun:test";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { HEADER_FIELDS_MAX } from "../limits.ts";
import { type HeaderField, HeaderDecoder } from "./header-decoder.ts";
import { writeHeader } from "./header-encoder.ts";
import { huffmanText } from "./huffman.ts";
import { STATIC_TABLE } from "./static-table.ts";

const decodeAll = (blocks: readonly string[]): unknown[] => {
  const decoder = new HeaderDecoder();
  return blocks.map((block) => decoder.decode(Buffer.from(block, "hex"))?.fields);
};

const GET: readonly HeaderField[] = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "www.example.com"],
];
const SECURE: readonly HeaderField[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/index.html"],
  [":authority", "www.example.com"],
  ["custom-key", "custom-value"],
];

test("the vectors of RFC 7541 C.2: one field of each form", () => {
  expect(decodeAll(["400a637573746f6d2d6b65790d637573746f6d2d686561646572"])).toEqual([[["custom-key", "custom-header"]]]);
  expect(decodeAll(["040c2f73616d706c652f70617468"])).toEqual([[[":path", "/sample/path"]]]);
  expect(decodeAll(["100870617373776f726406736563726574"])).toEqual([[["password", "secret"]]]);
  expect(decodeAll(["82"])).toEqual([[[":method", "GET"]]]);
});

test("the vectors of RFC 7541 C.3 and C.4: requests that share a table, plain and by Huffman", () => {
  const want = [GET, [...GET, ["cache-control", "no-cache"]], SECURE];
  const plain = ["828684410f7777772e6578616d706c652e636f6d", "828684be58086e6f2d6361636865"];
  expect(decodeAll([...plain, "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565"])).toEqual(want);
  const packed = ["828684418cf1e3c2e5f23a6ba0ab90f4ff", "828684be5886a8eb10649cbf"];
  expect(decodeAll([...packed, "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"])).toEqual(want);
});

test("entries leave the table when it is full, as in RFC 7541 C.5, and when its size is set", () => {
  const decoder = new HeaderDecoder();
  // 100 bytes: room for one entry of 40 letters, then for none.
  const entry = (letter: string): string => `4001${Buffer.from(letter).toString("hex")}28${Buffer.from(letter.repeat(40)).toString("hex")}`;
  const decode = (block: string): unknown => decoder.decode(Buffer.from(block, "hex"))?.fields;
  expect(decode(`3f45${entry("a")}${entry("b")}`)).toEqual([
    ["a", "a".repeat(40)],
    ["b", "b".repeat(40)],
  ]);
  expect(decode("be")).toEqual([["b", "b".repeat(40)]]);
  expect(decode("bf")).toBeUndefined();
});

test("what is no block is told: indices, integers, texts, sizes", () => {
  const check = (block: string): void => expect([block, new HeaderDecoder().decode(Buffer.from(block, "hex"))]).toEqual([block, undefined]);
  for (const block of ["80", "be", "ff00", "ffffffffffffffffff7f", "ff", "40", "4001", "400161", "40016105", "0083ffffff00"]) check(block);
  check("828684213f00"); // A size behind a field.
  check("3fe2ff03"); // A size beyond ours.
  check("008700000000000000" + "00"); // Huffman: padding that is not of ones.
  check("0084ffffffff00"); // Huffman: the end mark.
});

test("texts by Huffman end where a code does, but for a few ones", () => {
  expect(huffmanText(Buffer.from("9d29ad171863c78f0b97c8e9ae82ae43d3", "hex"), 0, 17)).toBe("https://www.example.com");
  expect(huffmanText(Buffer.from("d07abe941054d444a8200595040b8166e082a62d1bff", "hex"), 0, 22)).toBe("Mon, 21 Oct 2013 20:13:21 GMT");
  expect(huffmanText(Buffer.from("fe00", "hex"), 0, 2)).toBeUndefined(); // Padding that is not of ones.
  expect(huffmanText(Buffer.from("ffff", "hex"), 0, 2)).toBeUndefined(); // Padding of a whole byte.
  expect(huffmanText(Buffer.from("ffc7", "hex"), 0, 2)).toBe("\0"); // 13 bits, padded.
});

test("what is written is read, whatever the fields", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let round = 0; round < 200; round++) {
    const fields = Array.from({ length: random(20) }, (): HeaderField => {
      if (random(3) === 0) return STATIC_TABLE[random(STATIC_TABLE.length)] ?? ["x", ""];
      const text = (length: number): string => Array.from({ length }, () => String.fromCharCode(random(256))).join("");
      return [text(1 + random(20)), text(random(300))];
    });
    const out = new ByteWriter();
    for (const field of fields) writeHeader(out, field);
    expect(new HeaderDecoder().decode(out.copy())).toEqual({ fields, isTooLong: false });
  }
});

test("a bomb of references unfolds to no more than is taken, and the table stays that of the client", () => {
  const decoder = new HeaderDecoder();
  const value = "v".repeat(4000);
  const first = Buffer.concat([Buffer.from("40016b7fa11e", "hex"), Buffer.from(value)]);
  const { fields, isTooLong } = decoder.decode(Buffer.concat([first, Buffer.alloc(60_000, 0xbe)])) ?? { fields: [], isTooLong: false };
  expect([isTooLong, fields.length]).toEqual([true, 16]);
  expect(decoder.decode(Buffer.from("be", "hex"))?.fields).toEqual([["k", value]]);
  const many = decoder.decode(Buffer.alloc(HEADER_FIELDS_MAX + 1, 0x82));
  expect([many?.isTooLong, many?.fields.length]).toEqual([true, HEADER_FIELDS_MAX]);
});
