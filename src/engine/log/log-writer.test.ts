import { expect, test } from "bun:test";
import { AssertionError } from "../../base/assert.ts";
import { writerId } from "../../base/units.ts";
import { LogWriter, newWriterId } from "./log-writer.ts";

test("records count from 1, whatever their segments are", () => {
  const writer = new LogWriter(() => 7, writerId(9));
  const origins = [3, 3, 5].map((segment) => {
    const origin = writer.next(segment);
    writer.appended(origin);
    return origin;
  });
  const of = { writer: writerId(9), catalogVersion: 7 };
  expect(origins).toEqual([
    { ...of, number: 1, segment: 3 },
    { ...of, number: 2, segment: 3 },
    { ...of, number: 3, segment: 5 },
  ]);
});

test("a record that could not be built leaves no hole: its number goes to the next", () => {
  const writer = new LogWriter(() => 0);
  expect(writer.next(1).number).toBe(1);
  const origin = writer.next(1);
  writer.appended(origin);
  expect([origin.number, writer.next(2).number]).toEqual([1, 2]);
});

test("a number is used once", () => {
  const writer = new LogWriter(() => 0);
  const origin = writer.next(1);
  writer.appended(origin);
  expect(() => writer.appended(origin)).toThrow(AssertionError);
});

test("the catalogue's version is that of the moment", () => {
  let version = 4;
  const writer = new LogWriter(() => version);
  expect(writer.next(1).catalogVersion).toBe(4);
  version = 5;
  expect(writer.next(1).catalogVersion).toBe(5);
});

test("ids are drawn from 2^52 on, and differ", () => {
  const ids = Array.from({ length: 1000 }, newWriterId);
  for (const id of ids) expect(Number.isSafeInteger(id) && id >= 2 ** 52).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});
