/** Rows of text for tests of the wires' row writers. */
import fc from "fast-check";
import { Cells } from "../../src/server/wire/cells/cells.ts";

/** Texts of a column, NULL as undefined, in turn for its rows. */
export type CellTexts = readonly (string | undefined)[];

/** Columns of 1 to 9 texts each, some NULL, some numbers, some of up to 400 letters. @param minLength columns at least */
export function arbitraryColumns(minLength: number): fc.Arbitrary<CellTexts[]> {
  const cell = fc.oneof(
    fc.constant(undefined),
    fc.integer().map(String),
    fc.nat(400).map((length) => "x".repeat(length)),
  );
  return fc.array(fc.array(cell, { minLength: 1, maxLength: 9 }), { minLength, maxLength: 4 });
}

/** The cells of `rowCount` rows of a column. */
export function cellsOf(texts: CellTexts, rowCount: number): Cells {
  const made = Cells.take();
  made.makeRows(rowCount);
  made.begin(0);
  for (let row = 0; row < rowCount; row++) {
    const text = texts[row % texts.length];
    if (text === undefined) made.setNull(row);
    else made.setText(row, text);
  }
  return made;
}
