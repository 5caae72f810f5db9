import { expect, test } from "bun:test";
import { rowsOf } from "../../../test/support/batch-rows.ts";
import { LogDecoder, TraceDecoder } from "./decode.ts";
import { protobufOfJson } from "./json.ts";

const schemas = { columnOf: () => undefined };
const encoder = new TextEncoder();

test("names in snake_case, numbers as numbers, and names that are unknown are read as the standard says", () => {
  const request = { resource_logs: [{ scope_logs: [{ log_records: [{ time_unix_nano: 5, later: [1], body: { int_value: 3 } }] }] }] };
  const bytes = protobufOfJson(encoder.encode(JSON.stringify(request)), "LogsRequest");
  const result = new LogDecoder().decode(bytes, { database: "public", table: "logs", extractKeys: [], schemas });
  expect(rowsOf(result.batch).map(({ time, fields }) => [time, fields["body"]])).toEqual([[5n, "3"]]);
});

test("an empty object is an empty request", () => {
  const bytes = protobufOfJson(encoder.encode("{}"), "TracesRequest");
  expect(bytes.length).toBe(0);
  expect(new TraceDecoder().decode(bytes, { database: "public", table: "t", model: "v1", schemas }).rowCount).toBe(0);
});
