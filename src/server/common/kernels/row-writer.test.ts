import { expect, test } from "bun:test";
import fc from "fast-check";
import { INT64, STRING } from "../../../column/data-type.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import { CellColumn, type CellDialect, CSV_DIALECT, JSON_DIALECT } from "./cell-column.ts";
import { interleave, type RowLayout } from "./interleave.ts";
import { RowWriter } from "./row-writer.ts";

const encoder = new TextEncoder();

/** Prints `texts`, a list a column, by the writer in pieces, and by `interleave`. */
function check(texts: readonly (readonly (string | undefined)[])[], layout: RowLayout, bytesMax: number): void {
  const rowCount = texts[0]?.length ?? 0;
  const dialect = layout.after.length === 1 ? JSON_DIALECT : CSV_DIALECT;
  const columns = texts.map((own) => {
    const column = new CellColumn(STRING, dialect);
    column.encode(vectorOf(STRING, own), rowCount);
    return column;
  });
  const writer = new RowWriter(columns, layout);
  const got: Uint8Array[] = [];
  for (let start = 0; start < rowCount; ) {
    const printed = writer.write(start, rowCount, bytesMax);
    expect(printed.rowCount).toBeGreaterThan(0);
    got.push(Uint8Array.from(printed.bytes));
    start += printed.rowCount;
  }
  expect(Buffer.concat(got).toString()).toBe(Buffer.from(interleave(columns, layout, 0, rowCount).bytes).toString());
}

test("rows are those of `interleave`, whatever they are cut to", () => {
  const cell = fc.oneof(
    fc.constant(undefined),
    fc.string({ unit: fc.constantFrom("a", "b", "é", '"'), maxLength: 12 }),
    fc.constant("x".repeat(300)),
    fc.constant("\u{10ffff}\u007f"),
  );
  const few = fc.array(cell, { minLength: 1, maxLength: 20 });
  const lead = fc.constantFrom("", ",", ',"name":', '"a long name of a column":', "é");
  fc.assert(
    fc.property(
      fc.array(few, { minLength: 1, maxLength: 5 }),
      fc.array(lead, { minLength: 5, maxLength: 5 }),
      fc.constantFrom("}", "\r\n"),
      fc.constantFrom(100, 5000, 1_000_000),
      (lists, leads, after, bytesMax) => {
        // Enough rows for the loop: each list over and over.
        const texts = lists.map((list) => Array.from({ length: 700 }, (_, row) => list[row % list.length]));
        check(texts, { before: texts.map((_, c) => encoder.encode(leads[c]!)), after: encoder.encode(after) }, bytesMax);
      },
    ),
    { seed: 31, numRuns: 60 },
  );
});

test("small integers among texts, with and without NULL, in forms that change from batch to batch", () => {
  const values = fc.array(fc.integer({ min: -128, max: 127 }), { minLength: 1, maxLength: 20 });
  const kind = fc.constantFrom("small", "small or NULL", "wide", "text");
  const batch = fc.record({ values, kinds: fc.array(kind, { minLength: 4, maxLength: 4 }) });
  const lead = fc.constantFrom("", ",", ',"name":', '"a long name":', "four", "12345678", "x".repeat(12), "é");
  const rowCount = 400;
  const vector = (kinds: string, list: readonly number[], c: number): Vector => {
    const all = Array.from({ length: rowCount }, (_, row) => list[(row + c) % list.length]!);
    const validity = kinds === "small or NULL" ? Uint8Array.from(all, (value) => value & 1) : undefined;
    if (kinds === "text") return vectorOf(STRING, all.map(String));
    return { kind: "number", values: kinds === "wide" ? Float64Array.from(all) : Int8Array.from(all), validity };
  };
  fc.assert(
    fc.property(
      fc.array(batch, { minLength: 1, maxLength: 8 }),
      fc.array(lead, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom("}", "\r\n"),
      fc.constantFrom(60, 3000, 1_000_000),
      (batches, leads, count, after, bytesMax) => {
        const dialect = after === "}" ? JSON_DIALECT : CSV_DIALECT;
        const isText = (c: number): boolean => batches[0]!.kinds[c] === "text";
        const columns = Array.from({ length: count }, (_, c) => new CellColumn(isText(c) ? STRING : INT64, dialect));
        const layout = { before: columns.map((_, c) => encoder.encode(leads[c]!)), after: encoder.encode(after) };
        const writer = new RowWriter(columns, layout);
        for (const { values: list, kinds } of batches) {
          const vectors = columns.map((_, c) => vector(isText(c) ? "text" : kinds[c] === "text" ? "wide" : kinds[c]!, list, c));
          for (const [c, column] of columns.entries()) column.encode(vectors[c]!, rowCount);
          const got: Uint8Array[] = [];
          for (let start = 0; start < rowCount; ) {
            const printed = writer.write(start, rowCount, bytesMax);
            got.push(Uint8Array.from(printed.bytes));
            start += printed.rowCount;
          }
          expect(Buffer.concat(got).toString()).toBe(naive(vectors, leads, after, dialect, rowCount));
        }
      },
    ),
    { seed: 32, numRuns: 80 },
  );
});

/** Rows as text, value by value. */
function naive(vectors: readonly Vector[], leads: readonly string[], after: string, dialect: CellDialect, rowCount: number): string {
  let rows = "";
  for (let row = 0; row < rowCount; row++) {
    for (const [c, vector] of vectors.entries()) {
      const value = scalarAt(vector, vector.kind === "number" ? INT64 : STRING, row);
      const text = value === undefined ? dialect.nullText : String(value);
      rows += leads[c]! + (typeof value === "string" && dialect.text === "json" ? JSON.stringify(value) : text);
    }
    rows += after;
  }
  return rows;
}

test("a row longer than all that there is room for comes alone", () => {
  const texts = [Array.from({ length: 600 }, (_, row) => (row % 100 === 99 ? "y".repeat(50_000) : "z"))];
  check(texts, { before: [encoder.encode(",")], after: encoder.encode("\r\n") }, 20_000);
});
