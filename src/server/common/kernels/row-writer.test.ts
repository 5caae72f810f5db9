import { expect, test } from "bun:test";
import fc from "fast-check";
import { STRING } from "../../../column/data-type.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { CellColumn, CSV_DIALECT, JSON_DIALECT } from "./cell-column.ts";
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

test("a row longer than all that there is room for comes alone", () => {
  const texts = [Array.from({ length: 600 }, (_, row) => (row % 100 === 99 ? "y".repeat(50_000) : "z"))];
  check(texts, { before: [encoder.encode(",")], after: encoder.encode("\r\n") }, 20_000);
});
