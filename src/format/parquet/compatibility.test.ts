import { expect, test } from "bun:test";
import { everyType } from "./testing/every-type.ts";
import { openMemory, readColumn } from "./testing/memory-file.ts";

test.each([
  ["v1", 34],
  ["v2", 42],
] as const)("a file written by version %s stays readable", async (version, columnCount) => {
  const bytes = await Bun.file(new URL(`fixtures/${version}.parquet`, import.meta.url)).bytes();
  const table = everyType(200);
  const file = openMemory(bytes);
  expect(file.columns.length).toBe(columnCount);
  file.columns.forEach((_, c) => expect(readColumn(file, bytes, c)).toEqual([...(table.values[c] ?? [])]));
  expect(file.keyValues.get("fixture")).toBe(version);
});
