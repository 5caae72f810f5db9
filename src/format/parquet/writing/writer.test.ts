import { describe, expect, test } from "bun:test";
import { everyType } from "../testing/every-type.ts";
import { field, openMemory } from "../testing/memory-file.ts";
import type { ColumnInput } from "../types.ts";
import { ParquetWriter } from "./writer.ts";

const encoder = new TextEncoder();

describe("the writer", () => {
  const int64 = { kind: "int", bits: 64, signed: true } as const;
  const sink = { write: (): void => undefined };
  test("refuses values of the wrong kind", () => {
    const writer = new ParquetWriter([field("v", int64)], sink);
    const time: ColumnInput = { kind: "time", base: 0n, offsets: new Float64Array(1), validity: undefined };
    expect(() => writer.append(1, [time])).toThrow("cannot write column v: values of kind time where number or wide belong");
  });
  test("refuses fewer values than rows", () => {
    const writer = new ParquetWriter([field("v", int64)], sink);
    expect(() => writer.append(3, [{ kind: "number", values: new Int8Array(2), validity: undefined }])).toThrow("3 values of v; got 2");
  });
  test("refuses keys and blob names of its own", () => {
    expect(() => new ParquetWriter([], sink).finish({ "varve.parquet.x": "" })).toThrow("a footer key of the caller");
    expect(() => new ParquetWriter([], sink).addBlob("page-sums", new Uint8Array(0))).toThrow("a new blob name");
  });
  test("refuses columns of one name", () =>
    expect(() => new ParquetWriter([field("v", int64), field("v", int64)], sink)).toThrow("distinct"));
  test("tells what it wrote", () => {
    const parts: number[] = [];
    const table = everyType(500);
    const writer = new ParquetWriter(
      table.columns,
      { write: (bytes) => parts.push(bytes.length) },
      { rowsPerPage: 100, rowsPerRowGroup: 300 },
    );
    writer.append(500, table.inputs);
    writer.addBlob("note", encoder.encode("hello"));
    const written = writer.finish({});
    expect(written).toMatchObject({ rowCount: 500, rowGroupCount: 2, pageCount: 5 * table.columns.length });
    expect([written.timeMin, written.timeMax]).toEqual([1_700_000_000_000_000_000n, 1_700_000_090_000_000_000n]);
    expect(parts.reduce((sum, length) => sum + length, 0)).toBe(written.byteLength);
  });
  test("appends become row groups of one file", () => {
    const parts: Uint8Array[] = [];
    const writer = new ParquetWriter([field("v", int64)], { write: (bytes) => parts.push(bytes.slice()) });
    for (const value of [1, 2]) writer.append(1, [{ kind: "number", values: Int8Array.of(value), validity: undefined }]);
    writer.finish({});
    expect(openMemory(new Uint8Array(Buffer.concat(parts))).rowGroups.map(({ firstRow }) => firstRow)).toEqual([0, 1]);
  });
  test("blobs are found and checked", () => {
    const parts: Uint8Array[] = [];
    const writer = new ParquetWriter([], { write: (bytes) => parts.push(bytes.slice()) });
    writer.addBlob("note", encoder.encode("hello"));
    writer.finish({});
    const bytes = new Uint8Array(Buffer.concat(parts));
    const file = openMemory(bytes);
    const range = file.blob("note")!;
    const blob = bytes.slice(range.offset, range.offset + range.length);
    expect(new TextDecoder().decode(file.verifyBlob("note", blob))).toBe("hello");
    blob[0]!++;
    expect(() => file.verifyBlob("note", blob)).toThrow("does not match its checksum");
    expect(() => file.verifyBlob("note", blob.subarray(1))).toThrow("has 5 bytes; got 4");
  });
});
