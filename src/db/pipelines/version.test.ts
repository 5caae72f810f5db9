import { expect, test } from "bun:test";
import { parseVersion, versionText } from "./version.ts";

test.each([
  [1720081860987136000n, "2024-07-04 08:31:00.987136"],
  [1720081860000000000n, "2024-07-04 08:31:00"],
  [1720081860100000000n, "2024-07-04 08:31:00.100"],
  [1720081860000000001n, "2024-07-04 08:31:00.000000001"],
  [-1n, "1969-12-31 23:59:59.999999999"],
])("%p is printed %s and read again", (nanos, text) => {
  expect(versionText(nanos)).toBe(text);
  expect(parseVersion(text)).toBe(nanos);
});

test("zones and the T are understood, and a version without a zone is UTC", () => {
  for (const text of ["2024-07-04T08:31:00Z", "2024-07-04 08:31:00+00:00", "2024-07-04 08:31:00+0000", "2024-07-04 10:31:00+02:00"]) {
    expect(parseVersion(text)).toBe(1720081860000000000n);
  }
});

test("anything else is refused", () => {
  for (const text of [
    "",
    "latest",
    "2024-07-04",
    "2024-04-31 00:00:00",
    "2024-07-04 25:00:00",
    "1720081860",
    "2024-07-04 08:31:00.1234567890",
  ]) {
    expect(() => parseVersion(text)).toThrow(`Invalid pipeline version format: ${text}`);
  }
});
