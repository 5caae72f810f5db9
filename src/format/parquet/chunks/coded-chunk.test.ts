import { expect, test } from "bun:test";
import fc from "fast-check";
import { JSON_TYPE, STRING } from "../../../column/data-type.ts";
import type { BytesVector } from "../../../column/vector.ts";
import type { CodedBytes, ColumnInput, ParquetColumn, WriterOptions } from "../types.ts";
import { ParquetWriter } from "../writing/writer.ts";

const COLUMNS: readonly ParquetColumn[] = [
  { name: "text", type: STRING, nullable: true, role: "field", bloom: true },
  { name: "json", type: JSON_TYPE, nullable: true, role: "field" },
];

function fileOf(inputs: readonly ColumnInput[], rowCount: number, options: Partial<WriterOptions>): Buffer {
  const pieces: Uint8Array[] = [];
  const writer = new ParquetWriter(COLUMNS, { write: (bytes) => void pieces.push(new Uint8Array(bytes)) }, options);
  writer.append(rowCount, inputs);
  writer.finish({});
  return Buffer.concat(pieces);
}

/** The texts of the codes, row by row. */
function unfolded({ codes, texts }: CodedBytes): BytesVector {
  const values = Array.from(codes, (code) => texts[code] ?? new Uint8Array(0));
  const offsets = new Uint32Array(values.length + 1);
  for (let i = 0; i < values.length; i++) offsets[i + 1] = (offsets[i] ?? 0) + (values[i]?.length ?? 0);
  return { kind: "bytes", offsets, bytes: new Uint8Array(Buffer.concat(values)), validity: undefined };
}

/** A file of codes has the bytes of the file of their texts. @param codes of each row */
function check(texts: readonly string[], codes: readonly number[], options: Partial<WriterOptions> = {}): void {
  const encoder = new TextEncoder();
  const first: CodedBytes = {
    kind: "coded",
    codes: Uint32Array.from(codes),
    texts: texts.map((text) => encoder.encode(text)),
    validity: undefined,
  };
  const second: CodedBytes = { ...first, codes: Uint32Array.from(codes.toReversed()) };
  const coded = fileOf([first, second], codes.length, options);
  expect(coded.equals(fileOf([unfolded(first), unfolded(second)], codes.length, options))).toBe(true);
}

/** Rows `0 … count - 1`, whose texts change every `length` rows. */
function runs(count: number, length: number, texts: number): number[] {
  return Array.from({ length: count }, (_, row) => Math.floor(row / length) % texts);
}

test("codes of one text make the file that the texts make", () => check(["shop"], runs(100, 1, 1), { rowsPerPage: 16 }));
test("so do the empty text, and texts that no row has", () => check(["unused", "", "é"], [1, 1, 1, 1, 2, 1, 1, 2, 2, 2, 1, 1]));
test("so do runs over several pages and row groups", () =>
  check(["b", "a", "c", "longer"], runs(1000, 37, 4), { rowsPerPage: 64, rowsPerRowGroup: 256 }));
test("so do texts longer than a bound, at whose bytes pages are cut", () =>
  check(["x".repeat(300), "y".repeat(70_000), "x".repeat(299)], runs(200, 7, 3)));
test("so do any codes", () => {
  const texts = fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 80 }), { minLength: 1, maxLength: 6 });
  const rows = fc.array(fc.nat(5), { minLength: 20, maxLength: 300 });
  fc.assert(
    fc.property(texts, rows, (list, codes) =>
      check(
        list,
        codes.map((code) => code % list.length),
        { rowsPerPage: 50, rowsPerRowGroup: 120 },
      ),
    ),
    { seed: 12, numRuns: 60 },
  );
});
