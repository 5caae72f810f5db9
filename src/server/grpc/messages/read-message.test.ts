import { expect, test } from "bun:test";
import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { PromqlRequestSchema } from "../../../../proto/gen/greptime/v1/prom_pb.js";
import { CreateTableExprSchema, DdlRequestSchema } from "../../../../proto/gen/greptime/v1/ddl_pb.js";
import { FlightDescriptorSchema, SetSessionOptionsRequestSchema } from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import { CommandGetSqlInfoSchema } from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { readMessage } from "./read-message.ts";
import { wrapped } from "./raw-message.ts";

/** `count` times the same bytes. */
function repeated(bytes: readonly number[], count: number): Uint8Array {
  const all = new Uint8Array(bytes.length * count);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return all;
}

/** A message in a field of another. */
function inField(number: number, message: Uint8Array): Uint8Array {
  const out = wrapped(message);
  out[0] = number * 8 + 2;
  return out;
}

function refusalOf(schema: DescMessage, bytes: Uint8Array): string {
  try {
    readMessage(schema, bytes);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DbError);
    expect((thrown as DbError).code).toBe(StatusCode.InvalidArguments);
    return (thrown as DbError).message;
  }
  return "it was read";
}

test("a message is what the library reads, without the fields that nobody knows", () => {
  const columnDefs = Array.from({ length: 4096 }, (_, i) => ({ name: `c${i}`, dataType: 1, isNullable: true, comment: "text" }));
  const expr = create(CreateTableExprSchema, { tableName: "t", columnDefs, tableOptions: { ttl: "1d" } });
  const bytes = toBinary(CreateTableExprSchema, expr);
  expect(readMessage(CreateTableExprSchema, bytes)).toEqual(fromBinary(CreateTableExprSchema, bytes));
  const odd = Buffer.concat([bytes, Uint8Array.of(0xf8, 0x7f, 1)]);
  expect(readMessage(CreateTableExprSchema, odd)).toEqual(fromBinary(CreateTableExprSchema, bytes));
});

test("fields are counted before they are objects, wherever they lie", () => {
  const most = 65_536;
  const tooMany = expect.stringContaining(`it has more than ${most} fields; send several smaller ones`);
  const unknown = (count: number): Uint8Array => repeated([0x78, 1], count);
  expect(refusalOf(PromqlRequestSchema, unknown(most))).toBe("it was read");
  expect(refusalOf(PromqlRequestSchema, unknown(most + 1))).toEqual(tooMany);
  expect(refusalOf(PromqlRequestSchema, inField(1, unknown(most)))).toEqual(tooMany);
  expect(refusalOf(FlightDescriptorSchema, repeated([0x1a, 0], most + 1))).toEqual(tooMany);
  expect(refusalOf(DdlRequestSchema, inField(2, repeated([0x2a, 0], most)))).toEqual(tooMany);
  expect(refusalOf(CommandGetSqlInfoSchema, inField(1, repeated([1], most)))).toEqual(tooMany);
  const stringLists = inField(1, inField(2, inField(5, repeated([0x0a, 0], most))));
  expect(refusalOf(SetSessionOptionsRequestSchema, stringLists)).toEqual(tooMany);
});

test("messages that lie in each other too deep, and bytes that are none, are refused", () => {
  let extension: Uint8Array = Uint8Array.of(0x78, 1);
  for (let i = 0; i < 2000; i++) extension = inField(4, inField(2, extension));
  const column = inField(5, inField(7, extension));
  expect(refusalOf(DdlRequestSchema, inField(2, column))).toContain("it has messages more than 64 deep in each other");
  expect(refusalOf(PromqlRequestSchema, Uint8Array.of(0x0a, 5, 1))).toContain("cannot read PromqlRequest: a length of 5");
});
