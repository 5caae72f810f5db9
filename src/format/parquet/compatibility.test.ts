import { expect, test } from "bun:test";
import { everyType } from "./testing/every-type.ts";
import { openMemory, readColumn } from "./testing/memory-file.ts";

test("a file written by version 1 stays readable", async () => {
  const bytes = await Bun.file(new URL("fixtures/v1.parquet", import.meta.url)).bytes();
  const table = everyType(200);
  const file = openMemory(bytes);
  table.columns.forEach((_, c) => expect(readColumn(file, bytes, c)).toEqual([...(table.values[c] ?? [])]));
  expect(file.keyValues.get("fixture")).toBe("v1");
});
