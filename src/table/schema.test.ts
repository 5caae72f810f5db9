import { expect, test } from "bun:test";
import { STRING, TIMESTAMP_NANOSECOND } from "../column/data-type.ts";
import { type ColumnSchema, mergeModeOf, timeIndexOf } from "./schema.ts";

const host: ColumnSchema = { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true };
const ts: ColumnSchema = { id: 2, name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false };

test("the time index is the timestamp column", () => {
  expect(timeIndexOf({ name: "t", columns: [host, ts] })).toBe(ts);
});

test("a table without a time index is refused", () => {
  expect(() => timeIndexOf({ name: "t", columns: [host] })).toThrow("table t has no time index");
});

test.each([
  [{}, "last_row"],
  [{ merge_mode: "last_row" }, "last_row"],
  [{ merge_mode: "last_non_null" }, "last_non_null"],
  [{ append_mode: "true" }, "append"],
  [{ append_mode: "false", merge_mode: "last_non_null" }, "last_non_null"],
] as const)("options %p mean merge mode %s", (options, mode) => {
  expect(mergeModeOf({ options })).toBe(mode);
});
