import { expect, test } from "bun:test";
import fc from "fast-check";
import { INT64, STRING } from "../../../column/data-type.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { CellColumn, CSV_DIALECT, JSON_DIALECT } from "./cell-column.ts";
import { interleave, type RowLayout } from "./interleave.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

function layoutOf(before: readonly string[], after: string): RowLayout {
  return { before: before.map((text) => encoder.encode(text)), after: encoder.encode(after) };
}

function textColumn(texts: readonly (string | undefined)[], dialect = CSV_DIALECT): CellColumn {
  const column = new CellColumn(STRING, dialect);
  column.encode(vectorOf(STRING, texts), texts.length);
  return column;
}

test("cells of any length stand between what the layout says, whichever rows are taken", () => {
  const cell = fc.oneof(
    fc.constant(undefined),
    fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 9 }),
    fc.constant("x".repeat(200)),
  );
  const rows = fc
    .integer({ min: 1, max: 3 })
    .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1 }));
  const lead = fc.constantFrom("", ",", '","name":', "[");
  fc.assert(
    fc.property(
      rows,
      fc.array(lead, { minLength: 3, maxLength: 3 }),
      fc.constantFrom("", "]", "\r\n"),
      fc.nat(),
      (cells, leads, after, cut) => {
        const columns = cells[0]!.map((_, c) => textColumn(cells.map((row) => row[c])));
        const before = leads.slice(0, columns.length);
        const start = cut % cells.length;
        const want = cells.slice(start).map((row) => row.map((text, c) => `${before[c]}${text ?? ""}`).join("") + after);
        expect(decoder.decode(interleave(columns, layoutOf(before, after), start, cells.length).bytes)).toBe(want.join(""));
      },
    ),
    { seed: 11, numRuns: 300 },
  );
});

test("rows without columns are what ends them", () => {
  expect(decoder.decode(interleave([], layoutOf([], ",[]"), 0, 2).bytes)).toBe(",[],[]");
});

test("integers of a byte are printed as those of any width, and the column goes on with others", () => {
  const column = new CellColumn(INT64, JSON_DIALECT);
  const all = Int8Array.from({ length: 256 }, (_, i) => i - 128);
  const printed = (): string => decoder.decode(interleave([column], layoutOf([","], ""), 0, 256).bytes);
  for (const values of [all, Float64Array.from(all, (value) => value * 1e6), all]) {
    column.encode({ kind: "number", values, validity: undefined }, 256);
    expect(printed()).toBe(`,${values.join(",")}`);
  }
  const validity = Uint8Array.from(all, (value) => (value < 0 ? 0 : 1));
  column.encode({ kind: "number", values: all, validity }, 256);
  expect(printed()).toBe(`,${Array.from(all, (value) => (value < 0 ? "null" : value)).join(",")}`);
});

test("texts that need escapes, and long ones, are printed as JSON", () => {
  const texts = ["plain", 'a"b', "back\\slash", "tab\t", "é", "x".repeat(100), "", "~ !"];
  const dictionary = [undefined, ...texts];
  const codes = Uint32Array.from(dictionary, (_, code) => code);
  const column = new CellColumn(STRING, JSON_DIALECT);
  column.encode({ kind: "dictionary", codes, dictionary }, codes.length);
  const text = decoder.decode(interleave([column], layoutOf([","], ""), 0, codes.length).bytes);
  expect(JSON.parse(`[${text.slice(1)}]`)).toEqual([null, ...texts]);
});

test("rows are cut off once they are as long as they may be, one at least", () => {
  const column = textColumn(["aaaa", "bb", "cc", "dddddddd"]);
  const check = (start: number, bytesMax: number, want: string, rowCount: number): void => {
    const printed = interleave([column], layoutOf([","], "\n"), start, 4, bytesMax);
    expect([decoder.decode(printed.bytes), printed.rowCount]).toEqual([want, rowCount]);
  };
  check(0, 1000, ",aaaa\n,bb\n,cc\n,dddddddd\n", 4);
  check(0, 7, ",aaaa\n,bb\n", 2);
  check(1, 1, ",bb\n", 1);
  check(3, 1, ",dddddddd\n", 1);
});
