import { expect, test } from "bun:test";
import { nearestName } from "./nearest.ts";

const KNOWN = ["http.addr", "http.timeout", "wal.sync", "wal.dir", "user_provider"];

function check(wrong: string, want: string | undefined): void {
  expect(nearestName(wrong, KNOWN)).toBe(want);
}

test("finds the name one slip away", () => {
  check("http.adr", "http.addr");
  check("http.addrr", "http.addr");
  check("htpp.addr", "http.addr");
  check("HTTP.ADDR", "http.addr");
  check("wal.snyc", "wal.sync");
  check("userprovider", "user_provider");
});

test("finds nothing when nothing is near", () => {
  check("completely.different", undefined);
  check("", undefined);
  check("x".repeat(1000), undefined);
});

test("prefers the closer of two names", () => {
  expect(nearestName("wal.dirr", ["wal.sync", "wal.dir", "wal.dirty"])).toBe("wal.dir");
});
