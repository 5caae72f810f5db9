/** CommandGetSqlInfo: entries by number, each a value of a dense union. */
import type { CommandGetSqlInfo } from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { BOOLEAN, type DataType, INT32, INT64, STRING, UINT32 } from "../../../../column/data-type.ts";
import { encodeNested } from "../../../../column/nested.ts";
import type { Scalar } from "../../../../column/vector.ts";
import { vectorOf } from "../../../../column/vector-builder.ts";
import { encodeUnionBatch, encodeUnionSchema, type UnionColumns, type UnionValue } from "../../../../format/arrow/dense-union.ts";
import type { FlightAnswer } from "../flight-answer.ts";
import { required } from "./ask.ts";
import { type InfoValue, sqlInfoValues } from "./sql-info-values.ts";

type ListType = Extract<DataType, { kind: "list" }>;
type MapType = Extract<DataType, { kind: "map" }>;
const TEXTS: ListType = { kind: "list", element: STRING };
const NUMBERS: ListType = { kind: "list", element: INT32 };
const CONVERSIONS: MapType = { kind: "map", key: INT32, value: NUMBERS };

const COLUMNS: UnionColumns = {
  plain: [required("info_name", UINT32)],
  union: {
    name: "value",
    children: [
      { name: "string_value", type: STRING },
      { name: "bool_value", type: BOOLEAN },
      { name: "bigint_value", type: INT64 },
      { name: "int32_bitmask", type: INT32 },
      { name: "string_list", type: TEXTS },
      { name: "int32_to_int32_list_map", type: CONVERSIONS },
    ],
  },
};

/** Places of the children. */
const CHILD: Readonly<Record<InfoValue["kind"], number>> = { text: 0, flag: 1, count: 2, bits: 3, texts: 4, conversions: 5 };

const SCHEMA = encodeUnionSchema(COLUMNS);

/** Entries that are asked for, or all. @param version of the server @throws DbError InvalidArguments for an unknown number */
export function sqlInfo({ info }: CommandGetSqlInfo, version: string): FlightAnswer {
  const known = sqlInfoValues(version);
  const numbers = info.length === 0 ? [...known.keys()] : [...new Set(info)];
  const values = numbers.map((number): UnionValue => {
    const value = known.get(number);
    if (value === undefined) throw new DbError(StatusCode.InvalidArguments, `cannot tell SQL info ${number}: there is no such entry`);
    return { child: CHILD[value.kind], value: scalarOf(value) };
  });
  const batch = { rowCount: numbers.length, vectors: [vectorOf(UINT32, numbers)] };
  async function* batches(): AsyncIterable<Uint8Array<ArrayBuffer>> {
    yield encodeUnionBatch(COLUMNS, batch, values);
  }
  return { schema: SCHEMA, batches: batches() };
}

function scalarOf(info: InfoValue): Scalar {
  switch (info.kind) {
    case "text":
    case "flag":
    case "count":
    case "bits":
      return info.value;
    case "texts":
      return encodeNested(TEXTS, info.value);
    case "conversions":
      return encodeNested(
        CONVERSIONS,
        [...info.value].flatMap(([from, to]) => [from, encodeNested(NUMBERS, to)]),
      );
  }
}
