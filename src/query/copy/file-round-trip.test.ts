/** What goes into a file comes out of it: every type, every format, every way to compress. */
import { describe, expect, test } from "bun:test";
import { unpaced } from "../../../test/support/encoding-work.ts";
import fc from "fast-check";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { converterOf } from "./column-converter.ts";
import { type CopyOptions, copyOptions } from "./copy-options.ts";
import { compressed } from "./compression.ts";
import { encodeParquet } from "./encode-parquet.ts";
import { encodeCsv, encodeJson } from "./encode-text.ts";
import { fileRows } from "./file-reader.ts";
import { type AnyColumn, anyColumn, comparable } from "./testing/any-column.ts";
import { memoryFile } from "./testing/memory-open-file.ts";

const SEED = { seed: 20_261_121 };

async function bytesOf({ type, values }: AnyColumn, options: CopyOptions): Promise<Uint8Array> {
  const headers: readonly ColumnHeader[] = [{ name: "c", type }];
  const batches = async function* (): AsyncIterable<Batch> {
    // In two batches, so that the first row of one is not the first of all.
    const half = values.length >> 1;
    yield { rowCount: half, vectors: [vectorOf(type, values.slice(0, half))] };
    yield { rowCount: values.length - half, vectors: [vectorOf(type, values.slice(half))] };
  };
  const { format, compression } = options;
  const plain =
    format === "parquet"
      ? encodeParquet(headers, batches(), unpaced())
      : format === "csv"
        ? encodeCsv(headers, batches(), options)
        : encodeJson(headers, batches(), options);
  const parts: Uint8Array[] = [];
  const packed = compression === undefined || compression === "none" ? plain : compressed(plain, compression);
  for await (const part of packed) parts.push(new Uint8Array(part));
  return new Uint8Array(Buffer.concat(parts));
}

async function check(column: AnyColumn, options: CopyOptions): Promise<void> {
  const back: Scalar[] = [];
  for await (const rows of fileRows(memoryFile(await bytesOf(column, options)), ["c"], options, unpaced().pace)) {
    const [found] = rows.columns;
    const convert = converterOf(found?.type, column.type, options);
    for (let row = 0; row < rows.rowCount; row++) back.push(found?.isAbsent?.(row) === true ? undefined : convert(found?.values[row]));
  }
  expect(comparable(column, back)).toEqual(comparable(column, column.values));
}

describe("columns of every type come back from", () => {
  for (const [name, given, numRuns] of [
    ["Parquet", { format: "parquet" }, 300],
    ["CSV", { format: "csv" }, 200],
    ["JSON", { format: "json" }, 200],
    ["CSV with gzip", { format: "csv", compression_type: "gzip" }, 25],
    ["JSON with zstd", { format: "json", compression_type: "zstd" }, 25],
  ] as const) {
    test(name, async () => {
      const options = copyOptions(given, "to");
      await fc.assert(
        fc.asyncProperty(anyColumn, (column) => check(column, options)),
        { ...SEED, numRuns },
      );
    });
  }
});
