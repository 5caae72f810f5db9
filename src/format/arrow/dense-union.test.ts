import { expect, test } from "bun:test";
import { type DataType, INT32, INT64, STRING, UINT32 } from "../../column/data-type.ts";
import { encodeNested } from "../../column/nested.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { encodeUnionBatch, encodeUnionSchema, type UnionColumns } from "./dense-union.ts";

const TEXTS: DataType = { kind: "list", element: STRING };
const COLUMNS: UnionColumns = {
  plain: [{ name: "number", type: UINT32, nullable: false }],
  union: {
    name: "value",
    children: [
      { name: "text", type: STRING },
      { name: "whole", type: INT64 },
      { name: "texts", type: TEXTS },
      { name: "map", type: { kind: "map", key: INT32, value: { kind: "list", element: INT32 } } },
    ],
  },
};

/** What pyarrow 26 reads of it, in full validation: [(1, "a"), (2, 7), (3, ["x", "y"]), (4, "b")]. */
function stream(): Buffer {
  const batch = { rowCount: 4, vectors: [vectorOf(UINT32, [1, 2, 3, 4])] };
  const values = [
    { child: 0, value: "a" },
    { child: 1, value: 7 },
    { child: 2, value: encodeNested({ kind: "list", element: STRING }, ["x", "y"]) },
    { child: 0, value: "b" },
  ];
  return Buffer.concat([encodeUnionSchema(COLUMNS), encodeUnionBatch(COLUMNS, batch, values)]);
}

test("a union is its type numbers, its positions and its children", () => {
  const bytes = stream();
  const body = bytes.subarray(bytes.length - bodyLength());
  // number: no validity, four numbers
  expect([...new Uint32Array(body.buffer.slice(body.byteOffset, body.byteOffset + 16))]).toEqual([1, 2, 3, 4]);
  expect([...body.subarray(16, 20)]).toEqual([0, 1, 2, 0]);
  expect([...new Int32Array(body.buffer.slice(body.byteOffset + 24, body.byteOffset + 40))]).toEqual([0, 0, 0, 1]);
});

function bodyLength(): number {
  const schema = encodeUnionSchema(COLUMNS).length;
  const all = stream();
  return all.length - schema - 8 - all.readUInt32LE(schema + 4);
}

test("a value lies in a child that there is", () => {
  const batch = { rowCount: 1, vectors: [vectorOf(UINT32, [1])] };
  expect(() => encodeUnionBatch(COLUMNS, batch, [{ child: 9, value: "a" }])).toThrow("one of its children");
  expect(() => encodeUnionBatch(COLUMNS, batch, [])).toThrow("a value a row");
});
