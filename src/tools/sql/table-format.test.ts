import { expect, test } from "bun:test";
import type { ColumnHeader } from "../../column/batch.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { AnsweredRows } from "../common/arrow-answer.ts";
import { fittingWidths, printTable } from "./table-format.ts";
import { printVertical } from "./text-formats.ts";

function rowsOf(headers: readonly ColumnHeader[], ...batches: readonly (readonly (readonly Scalar[])[])[]): AnsweredRows {
  const made = batches.map((rows) => ({
    rowCount: rows.length,
    vectors: headers.map(({ type }, i) =>
      vectorOf(
        type,
        rows.map((row) => row[i]),
      ),
    ),
  }));
  return {
    headers,
    batches: (async function* () {
      yield* made;
    })(),
  };
}

async function printed(rows: AnsweredRows, columnsMax?: number): Promise<readonly [text: string, hint: string | undefined]> {
  let text = "";
  const { hint } = await printTable(rows, async (piece) => void (text += piece), columnsMax);
  return [text, hint];
}

const HEADERS: readonly ColumnHeader[] = [
  { name: "n", type: INT64 },
  { name: "text", type: STRING },
];

test("NULL, the empty text and the word NULL are three things; integers are exact; control characters do nothing", async () => {
  const rows = rowsOf(HEADERS, [
    [9007199254740993n, "NULL"],
    [undefined, ""],
    [-1, undefined],
    [0, "a\u001b[31m\nb"],
    [1, "漢字"],
  ]);
  expect((await printed(rows))[0]).toBe(
    [
      "               n | text",
      "-----------------+-------------",
      '9007199254740993 | "NULL"',
      "            NULL |",
      "              -1 | NULL",
      "               0 | a\\x1b[31m\\nb",
      "               1 | 漢字",
      "",
    ].join("\n"),
  );
});

test("a table fits the terminal, and says what it leaves out", async () => {
  const [text, hint] = await printed(rowsOf(HEADERS, [[1, "x".repeat(100)]]), 30);
  for (const line of text.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(30);
  expect(text).toContain("…");
  expect(hint).toContain("\\x");
  const many = Array.from({ length: 30 }, (_, i): ColumnHeader => ({ name: `column${i}`, type: STRING }));
  const [narrow, left] = await printed(rowsOf(many, [many.map(() => "value")]), 40);
  for (const line of narrow.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40);
  expect(left).toMatch(/^2\d more columns do not fit: column/);
});

test("widths come from the first rows; later rows are cut to them", async () => {
  const first = Array.from({ length: 1000 }, (_, i): readonly Scalar[] => [i, "abc"]);
  const [text] = await printed(rowsOf(HEADERS, first, [[1, "abcdefgh"]]));
  expect(text.trimEnd().split("\n").at(-1)).toBe("  1 | abc…");
});

test("widths never exceed the room", () => {
  for (let room = 1; room < 100; room++) {
    const widths = fittingWidths([5, 50, 7, 200, 3], room);
    expect(widths.reduce((sum, width) => sum + width, 0) + 3 * (widths.length - 1)).toBeLessThanOrEqual(Math.max(room, 1));
    expect(widths.length).toBeGreaterThan(0);
  }
});

test("no rows are a head alone; a value a line keeps lines of texts", async () => {
  expect((await printed(rowsOf(HEADERS)))[0]).toBe("n | text\n--+-----\n");
  let text = "";
  await printVertical(
    rowsOf(HEADERS, [
      [1, "a\nb"],
      [undefined, "NULL"],
    ]),
    async (piece) => void (text += piece),
  );
  expect(text).toBe('-[ row 1 ]----\nn    | 1\ntext | a\n     | b\n-[ row 2 ]----\nn    | NULL\ntext | "NULL"\n');
});
