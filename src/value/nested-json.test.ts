import { describe, expect, test } from "bun:test";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  FLOAT64,
  INT64,
  INTERVAL,
  isNested,
  JSON_TYPE,
  type NestedType,
  STRING,
  TIMESTAMP_NANOSECOND,
} from "../column/data-type.ts";
import { encodeNested, type NestedPart } from "../column/nested.ts";
import { nestedJson } from "./nested-json.ts";

const list = (element: DataType): NestedType => ({ kind: "list", element });

describe("JSON", () => {
  function json(type: DataType, parts: readonly NestedPart[], want: string): void {
    if (!isNested(type)) throw new Error("a nested type");
    expect(nestedJson(type, encodeNested(type, parts))).toBe(want);
  }

  test("has arrays for lists, with values as answers have them", () => {
    json(list(FLOAT64), [1, 0.1, 1e17, Number.NaN, undefined], "[1.0,0.1,1e17,null,null]");
    json(list(INT64), [9_223_372_036_854_775_807n, -1], "[9223372036854775807,-1]");
    json(list({ kind: "decimal", precision: 5, scale: 2 }), [150], '["1.50"]');
    json(list(STRING), ['a"b', ""], '["a\\"b",""]');
    json(list(BINARY), [new Uint8Array([1, 255])], "[[1,255]]");
    json(list(TIMESTAMP_NANOSECOND), [-5n], "[-5]");
    json(list(JSON_TYPE), ['{"a":1}'], '[{"a":1}]');
    json(list(INTERVAL), [{ months: 1, days: 0, nanos: 0n }], '["1 mons"]');
  });

  test("has objects with sorted keys for structs and maps", () => {
    const fields = [
      { name: "b", type: INT64 },
      { name: "a", type: STRING },
      { name: "b", type: STRING },
    ];
    json({ kind: "struct", fields }, [1, undefined, "second"], '{"a":null,"b":1}');
    json({ kind: "map", key: STRING, value: INT64 }, ["z", 1, 'a"', undefined], '{"a\\"":null,"z":1}');
    json({ kind: "map", key: INT64, value: BOOLEAN }, [2, true], '{"2":true}');
    json({ kind: "map", key: { kind: "decimal", precision: 3, scale: 1 }, value: INT64 }, [15, 1], '{"1.5":1}');
  });
});
