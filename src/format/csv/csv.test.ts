import { expect, test } from "bun:test";
import { array, assert, constantFrom, integer, option, property, string } from "fast-check";
import { CsvReader } from "./csv-reader.ts";
import { fieldWriter } from "./csv-writer.ts";

type Row = readonly (string | undefined)[];

/** The records of a text that comes in pieces of some length. */
function read(text: string, step: number = text.length || 1, delimiter = ",", keepsEmptyLines = false): Row[] {
  const reader = new CsvReader(delimiter, keepsEmptyLines);
  const rows: Row[] = [];
  for (let at = 0; at < text.length; at += step) rows.push(...reader.push(text.slice(at, at + step)).map(({ fields }) => fields));
  rows.push(...reader.finish().map(({ fields }) => fields));
  return rows;
}

function check(text: string, want: readonly Row[]): void {
  for (const step of [1, 2, 3, 5, 1000]) expect(read(text, step), `${text} by ${step}`).toEqual([...want]);
}

test("cuts lines and fields; an empty field is NULL, one in quotes is empty text", () => {
  check("a,b\n1,2\n", [
    ["a", "b"],
    ["1", "2"],
  ]);
  check("a,b\r\n1,2", [
    ["a", "b"],
    ["1", "2"],
  ]);
  check('a,,""\n', [["a", undefined, ""]]);
  check('"a","b\r"\r\n', [["a", "b\r"]]);
  check("\n\na,b\n\n1,2\n\n", [
    ["a", "b"],
    ["1", "2"],
  ]);
  check('x"y,z\n', [['x"y', "z"]]);
});

test("an empty line is NULL where records have one field, from the first that is not empty on", () => {
  check("\n\na\n\nb\n", [["a"], [undefined], ["b"]]);
  check('"a"\n\r\n', [["a"], [undefined]]);
  expect(read("\na\n", 1, ",", true)).toEqual([[undefined], ["a"]]);
});

test("takes delimiters, quotes and line ends inside quotes", () => {
  check('"a,b","c""d","e\nf"\nnext,1,2\n', [
    ["a,b", 'c"d', "e\nf"],
    ["next", "1", "2"],
  ]);
  check('"","""",","\n', [["", '"', ","]]);
});

test("refuses what is no CSV, with the line", () => {
  for (const [text, why] of [
    ['a\n"b', "a quote is not closed"],
    ['"a"b,c\n', "behind the closing quote of field 1 stands 'b'"],
  ] as const) {
    expect(() => read(text)).toThrow(why);
    expect(() => read(text, 1)).toThrow(why);
  }
});

test("gives back what was written, whatever it holds and wherever it is cut", () => {
  const field = option(string({ unit: constantFrom("a", ",", '"', "\n", "\r", ";", "ü", " ") }), { nil: undefined });
  const rows = integer({ min: 1, max: 4 }).chain((width) => array(array(field, { minLength: width, maxLength: width }), { maxLength: 6 }));
  const holds = property(rows, constantFrom(",", ";", "\t"), integer({ min: 1, max: 9 }), (table, delimiter, step) => {
    const write = fieldWriter(delimiter);
    const text = table.map((row) => `${row.map(write).join(delimiter)}\n`).join("");
    expect(read(text, step, delimiter, table[0]?.length === 1)).toEqual(table);
  });
  assert(holds, { seed: 20, numRuns: 300 });
});
