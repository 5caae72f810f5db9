import { expect, test } from "bun:test";
import { runLookupOf } from "./run-lookup.ts";

function check(...series: readonly number[]): void {
  const lookup = runLookupOf(Uint32Array.from(series));
  for (const [run, number] of series.entries()) expect(lookup.find(number)).toBe(run);
  for (const number of [0, 1, 5, 999, 2 ** 32 - 1]) expect(lookup.find(number)).toBe(series.indexOf(number));
}

test("runs are found by series, near and far apart, in any order", () => {
  check();
  check(5);
  check(3, 1, 2, 0);
  check(1_000_000, 5, 70, 999_999);
  check(...Array.from({ length: 300 }, (_, i) => 1000 + ((i * 7) % 300)));
});

test("few runs of a table of millions take no table by number", () => {
  expect(runLookupOf(Uint32Array.of(1, 16_000_000)).byteLength).toBe(8);
});
