/** Header blocks: the examples of RFC 7541, Appendix C, and blocks of `node:http2`. */
import { expect, test } from "bun:test";
import { HeaderReader, writeHeaders } from "./header-block.ts";
import { unpackText } from "./huffman.ts";

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(" ", ""), "hex");

test("reads literals, indexed headers and packed texts of the standard's examples, one connection after the other", () => {
  const plain = new HeaderReader();
  expect(plain.read(bytes("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"))).toEqual([
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/"],
    [":authority", "www.example.com"],
  ]);
  expect(plain.read(bytes("8286 84be 5808 6e6f 2d63 6163 6865")).slice(3)).toEqual([
    [":authority", "www.example.com"],
    ["cache-control", "no-cache"],
  ]);
  const packed = new HeaderReader();
  expect(packed.read(bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"))[3]).toEqual([":authority", "www.example.com"]);
  expect(packed.read(bytes("8286 84be 5886 a8eb 1064 9cbf"))[4]).toEqual(["cache-control", "no-cache"]);
  expect(packed.read(bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"))[4]).toEqual(["custom-key", "custom-value"]);
});

test("forgets entries when the table shrinks, and refuses what is not there", () => {
  const reader = new HeaderReader();
  reader.read(bytes("4003 666f 6f03 6261 72"));
  expect(reader.read(bytes("be"))).toEqual([["foo", "bar"]]);
  expect(() => reader.read(bytes("20 be"))).toThrow("there is no entry 62");
  expect(() => reader.read(bytes("80"))).toThrow("there is no entry 0");
  expect(() => reader.read(bytes("0005 66"))).toThrow("cut short");
  expect(() => reader.read(bytes("00"))).toThrow("cut short");
  expect(() => reader.read(bytes("ff ffff ffff ffff ffff"))).toThrow("too long");
});

test("reads what it writes, long texts too", () => {
  const headers = [
    [":path", "/a.Service/Method"],
    ["x-long", "v".repeat(5000)],
    ["x-empty", ""],
  ] as const;
  expect(new HeaderReader().read(writeHeaders(headers))).toEqual(headers.map(([name, value]) => [name, value]));
});

test("packed texts end with ones, fewer than eight", () => {
  expect(unpackText(bytes("1f"))).toBe("a");
  expect(() => unpackText(bytes("18"))).toThrow("cut short");
  expect(() => unpackText(bytes("1fff"))).toThrow("cut short");
  expect(() => unpackText(bytes("ffffffff"))).toThrow("the mark of its end");
});
