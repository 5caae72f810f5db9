import { describe, expect, test } from "bun:test";
import { ThriftReader, ThriftType, ThriftWriter } from "./thrift-compact.ts";

const reader = (bytes: readonly number[]): ThriftReader => new ThriftReader(Uint8Array.from(bytes), 0, "test", 100);

describe("the bytes", () => {
  test("fields carry the step of their id and a type", () => {
    const writer = new ThriftWriter();
    writer.open();
    writer.i32(1, -1);
    writer.bool(3, true);
    writer.i64(20, 300);
    writer.text(21, "ab");
    writer.close();
    expect([...writer.out.bytes()]).toEqual([0x15, 1, 0x21, 0x06, 40, 0xd8, 4, 0x18, 2, 97, 98, 0]);
  });
  test("lists of 15 and more carry their size apart", () => {
    const writer = new ThriftWriter();
    writer.open();
    writer.list(1, ThriftType.I32, 15);
    for (let i = 0; i < 15; i++) writer.elementInt(i);
    writer.close();
    expect([...writer.out.bytes().subarray(0, 3)]).toEqual([0x19, 0xf5, 15]);
  });
});

describe("reading", () => {
  test("skips every type that it does not know", () => {
    // bool, byte, i64, double, binary, list of bools, set, map, struct with a field; then field 10 = 7.
    const bytes = [
      0x11, 0x13, 9, 0x16, 0x80, 1, 0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0x18, 1, 65, 0x19, 0x21, 1, 2, 0x1a, 0x15, 2, 0x1b, 1, 0x58, 2, 1, 66,
      0x1c, 0x15, 4, 0, 0x15, 14, 0,
    ];
    const input = reader(bytes);
    input.open();
    let id = input.field();
    while (id !== 10) {
      input.skip();
      id = input.field();
    }
    expect(input.int()).toBe(7);
    expect(input.field()).toBe(0);
    expect(input.offset).toBe(bytes.length);
  });
  const check = (bytes: readonly number[], why: string): void => {
    const walk = (): void => {
      const input = reader(bytes);
      input.open();
      while (input.field() !== 0) input.skip();
    };
    expect(walk).toThrow(why);
    expect(walk).toThrow(/test at byte 1\d\d/);
  };
  test("refuses an early end", () => check([0x15], "the structure ends early"));
  test("refuses a binary longer than what is left", () => check([0x18, 50, 1], "50 bytes announced, 1 left"));
  test("refuses a list longer than what is left", () => check([0x19, 0xf5, 100, 1], "a list of 100 elements in 1 bytes"));
  test("refuses unknown types", () => check([0x1f, 0], "unknown type 15"));
  test("refuses endless nesting", () => check(new Array<number>(200).fill(0x1c), "nested too deeply"));
  test("refuses numbers beyond their width", () => check([0x16, ...new Array<number>(11).fill(0xff)], "more than ten bytes"));
});
