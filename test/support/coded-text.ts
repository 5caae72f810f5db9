/** Text of some rows in the ways in which a vector may hold it, for tests that all of them are treated alike. */
import { STRING } from "../../src/column/data-type.ts";
import { textTableOf } from "../../src/column/text-table.ts";
import type { CodedVector, Vector } from "../../src/column/vector.ts";
import { vectorOf } from "../../src/column/vector-builder.ts";

/** Texts that are easily treated wrongly, some of them twice in a row. */
export const TEXTS: readonly (string | undefined)[] = [
  "a",
  undefined,
  "",
  'say "x",\ny',
  "ä€😀",
  "ä€😀",
  "long ".repeat(40),
  undefined,
  "a",
  "\u0001\\",
];

/** Codes over a table in which each text, and one that no row has, stands twice. */
export function codedOf(texts: readonly (string | undefined)[]): CodedVector {
  const distinct = [...new Set(texts.filter((text) => text !== undefined)), "unused"];
  const entries = textTableOf([undefined, ...distinct, ...distinct]);
  const codeOf = (text: string, row: number): number => distinct.indexOf(text) + 1 + (row % 2) * distinct.length;
  return { kind: "coded", codes: Uint32Array.from(texts, (text, row) => (text === undefined ? 0 : codeOf(text, row))), entries };
}

/** The same rows as plain text. */
export function plainOf(texts: readonly (string | undefined)[]): Vector {
  return vectorOf(STRING, texts);
}
