import { expect, test } from "bun:test";
import { optionsFromDatabase } from "./database-template.ts";

test("a table takes its database's options but those that are looked up, and its own come first", () => {
  const database = { ttl: "7days", "compaction.type": "twcs", append_mode: "false", merge_mode: "last_non_null" };
  expect(optionsFromDatabase({}, database)).toEqual({ append_mode: "false", merge_mode: "last_non_null" });
  expect(optionsFromDatabase({ merge_mode: "", ttl: "1day" }, database)).toEqual({ append_mode: "false", merge_mode: "", ttl: "1day" });
  expect(optionsFromDatabase({}, {})).toEqual({});
});
