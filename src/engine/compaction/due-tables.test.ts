import { describe, expect, test } from "bun:test";
import { DueTables } from "./due-tables.ts";

describe("due tables", () => {
  test("are taken once each, in the order in which they were added", () => {
    const due = new DueTables<string>();
    for (const table of ["b", "a", "b"]) due.add(table);
    expect([due.take(0), due.take(0), due.take(0)]).toEqual(["b", "a", undefined]);
    expect(due.nextAt()).toBeUndefined();
  });

  test("wait until their moment, unless they are added before", () => {
    const due = new DueTables<string>();
    due.wait("a", 250);
    expect([due.take(249), due.nextAt(), due.take(250)]).toEqual([undefined, 250, "a"]);
    due.wait("a", 500);
    due.add("a");
    expect(due.take(251)).toBe("a");
  });

  test("wait twice as long after each failure, five minutes at most, and a second again after they worked", () => {
    const due = new DueTables<string>();
    const waits = Array.from({ length: 10 }, () => due.failed("a", 0));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000]);
    expect(due.worked("a")).toBe(true);
    expect(due.failed("a", 0)).toBe(1000);
  });

  test("that failed keep their time when they are added, and do not stand in the way of others", () => {
    const due = new DueTables<string>();
    due.failed("a", 0);
    due.add("a");
    due.add("b");
    expect([due.take(999), due.take(999), due.nextAt(), due.take(1000)]).toEqual(["b", undefined, 1000, "a"]);
    expect(due.worked("b")).toBe(false);
  });
});
