/** Against frames of the reference implementation (python lz4 4.4.5), what it makes of ours (FORMAT.md says how), and damage. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Lz4Error } from "./block.ts";
import { decodeLz4Frames, encodeLz4Frame, lz4FrameBytes } from "./frame.ts";

const frameOf = (bytes: Uint8Array): Uint8Array => encodeLz4Frame(bytes, new Uint8Array(lz4FrameBytes(bytes.length)));
import { xxHash32 } from "./xxhash32.ts";

/** What the frames below hold. */
const CONTENT: Uint8Array = Buffer.concat([
  Buffer.from("varve lays down a layer a year, ".repeat(4000)),
  Uint8Array.from({ length: 200 }, (_, i) => (i * i * 7919) >> 3),
  Buffer.alloc(70_000, "a"),
]);

const FRAMES: Readonly<Record<string, string>> = {
  independent:
    "BCJNGGhAOAYDAAAAAAAzKgEAAPACdmFydmUgbGF5cyBkb3duIGEMAL9lciBhIHllYXIsICAA////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "/////////////////////////////////////////////////////8hQZWFyLCD5AQAA8AJ2YXJ2ZSBsYXlzIGRvd24gYQwAv2VyIGEgeWVhciwgIAD/////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////wf+8AN13zN6qM3d4M6veznjfAeB5z+CuNnt7OK/j" +
    "0n7kB+WA1ee0PoKDP7jr24buEO+J4PG/SI6OS8P455P6HvyX7QDNV5yeWtMH+KMLLg6o/xHgaa+wbuYbC7gfQyK+FCf1gMXHhP4yI884WzvWLkAPmeDhnxhO" +
    "PutTeFfzSl4st/0AvTdsXgpzl3gTa35O2B8h4FmPgC6Wu5s4j6Ny/kRHBYC1p1S+4sNfuMubJm5wL6ng0X/oDu6L4/jHU5qeXNcNAK0XPB66EydhYWEDAP//" +
    "////////////KFBhYWFhYQsBAAAfYQEA////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "/////////////+dQYWFhYWERAAAAH2EBAP///////yVQYWFhYWEAAAAA",
  linked:
    "BCJNGEhAOAYDAAAAAADXKwEAAP8RdmFydmUgbGF5cyBkb3duIGEgbGF5ZXIgYSB5ZWFyLCAgAP//////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "///////////////////////////////////////////////////////IUGVhciwg2QEAAA8gAP//////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "///////////////////////////////////////h/7wA3XfM3qozd3gzq97OeN8B4HnP4K42e3s4r+PSfuQH5YDV57Q+goM/uOvbhu4Q74ng8b9Ijo5Lw/jn" +
    "k/oe/JftAM1XnJ5a0wf4owsuDqj/EeBpr7Bu5hsLuB9DIr4UJ/WAxceE/jIjzzhbO9YuQA+Z4OGfGE4+61N4V/NKXiy3/QC9N2xeCnOXeBNrfk7YHyHgWY+A" +
    "Lpa7mziPo3L+REcFgLWnVL7iw1+4y5smbnAvqeDRf+gO7ovj+MdTmp5c1w0ArRc8HroTJ2FhYQMA//////////////8oUGFhYWFhCgEAAA8BAP//////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "///////////////////////////////////////////////////////////////////////////////////////////oUGFhYWFhEAAAAA8BAP///////yZQ" +
    "YWFhYWEAAAAA",
  checksums:
    "BCJNGFxAOAYDAAAAAAAeKwEAAP8RdmFydmUgbGF5cyBkb3duIGEgbGF5ZXIgYSB5ZWFyLCAgAP//////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "///////////////////////////////////////////////////////IUGVhciwg7zcsftkBAAAPIAD/////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////4f+8AN13zN6qM3d4M6veznjfAeB5z+CuNnt7OK/j0n7kB+WA1ee0PoKDP7jr24buEO+J4PG/SI6O" +
    "S8P455P6HvyX7QDNV5yeWtMH+KMLLg6o/xHgaa+wbuYbC7gfQyK+FCf1gMXHhP4yI884WzvWLkAPmeDhnxhOPutTeFfzSl4st/0AvTdsXgpzl3gTa35O2B8h" +
    "4FmPgC6Wu5s4j6Ny/kRHBYC1p1S+4sNfuMubJm5wL6ng0X/oDu6L4/jHU5qeXNcNAK0XPB66EydhYWEDAP//////////////KFBhYWFhYWxC8uUKAQAADwEA" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////" +
    "/////////////////////////////////////////////////////////////////////////////////////////////////////+hQYWFhYWHK4EWiEAAA" +
    "AA8BAP///////yZQYWFhYWHkqO5/AAAAAMDwaR4=",
};

describe("frames of the reference implementation", () => {
  test.each(Object.entries(FRAMES))("%s", (_name, base64) => {
    expect(Buffer.compare(decodeLz4Frames(Buffer.from(base64, "base64"), CONTENT.length), CONTENT)).toBe(0);
  });

  test("one behind the other, and a frame to be skipped between them", () => {
    const [one = "", , two = ""] = Object.values(FRAMES);
    const skipped = Uint8Array.of(0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
    const bytes = Buffer.concat([Buffer.from(one, "base64"), skipped, Buffer.from(two, "base64")]);
    expect(Buffer.compare(decodeLz4Frames(bytes, CONTENT.length * 2), Buffer.concat([CONTENT, CONTENT]))).toBe(0);
  });
});

test("what is encoded is decoded: nothing, noise, runs, texts, more than a block", () => {
  const check = (bytes: Uint8Array): void => {
    const frame = frameOf(bytes);
    expect(frame.length).toBeLessThanOrEqual(bytes.length + 32);
    expect(Buffer.compare(decodeLz4Frames(frame, bytes.length), bytes)).toBe(0);
  };
  check(new Uint8Array(0));
  check(CONTENT);
  check(new Uint8Array(9 * 1024 * 1024).fill(7));
  check(Uint8Array.from({ length: 5 * 1024 * 1024 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 13) & (i & 4096 ? 255 : 3)));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.nat(50)), { maxLength: 30 }), (parts) => {
      check(Buffer.concat(parts.flatMap(([bytes, times]) => Array.from({ length: times }, () => bytes))));
    }),
    { seed: 5 },
  );
  expect(frameOf(CONTENT).length).toBeLessThan(CONTENT.length / 50);
});

test("damage is told: every cut, every changed byte of a frame with checksums", () => {
  const frame = Buffer.from(FRAMES["checksums"] ?? "", "base64");
  for (let length = 0; length < frame.length; length++)
    expect(() => decodeLz4Frames(frame.subarray(0, length), CONTENT.length)).toThrow(Lz4Error);
  for (let at = 0; at < frame.length; at++) {
    const damaged = Uint8Array.from(frame);
    damaged[at]! ^= 1 << (at & 7);
    expect(() => decodeLz4Frames(damaged, CONTENT.length)).toThrow(Lz4Error);
  }
});

test("what no frame can hold, or another length, is refused", () => {
  const frame = frameOf(CONTENT);
  expect(() => decodeLz4Frames(frame, CONTENT.length - 1)).toThrow(Lz4Error);
  expect(() => decodeLz4Frames(frame, CONTENT.length + 1)).toThrow(Lz4Error);
  expect(() => decodeLz4Frames(new Uint8Array(100), 2 ** 31)).toThrow("100 bytes cannot decode to 2147483648");
  expect(() => decodeLz4Frames(new TextEncoder().encode("no frame at all"), 10)).toThrow("no LZ4 frame begins here");
});

test("checksums of the specification's examples", () => {
  expect(xxHash32(new Uint8Array(0))).toBe(0x02cc_5d05);
  expect(xxHash32(new TextEncoder().encode("a"))).toBe(0x550d_7456);
  expect(xxHash32(new TextEncoder().encode("abc"))).toBe(0x32d1_53ff);
});
