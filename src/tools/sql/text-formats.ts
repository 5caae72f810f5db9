/** Rows as lines of name and value, as CSV and as JSON lines: printed as they come, whatever their number. */
import type { Batch } from "../../column/batch.ts";
import { copyOptions } from "../../query/copy/copy-options.ts";
import { encodeCsv, encodeJson } from "../../query/copy/encode-text.ts";
import type { AnsweredRows } from "../common/arrow-answer.ts";
import { cellText, NULL_TEXT, shownLine } from "./cell-text.ts";
import type { Printed, Write } from "./table-format.ts";

/** Characters that are handed on at a time. */
const PIECE_CHARACTERS = 64 * 1024;

/** Each row as a heading and a line a column. Texts of several lines stay so, behind a bar. */
export async function printVertical({ headers, batches }: AnsweredRows, write: Write): Promise<Printed> {
  const width = Math.max(0, ...headers.map(({ name }) => Bun.stringWidth(shownLine(name))));
  const names = headers.map(({ name }) => {
    const shown = shownLine(name);
    return shown + " ".repeat(width - Bun.stringWidth(shown));
  });
  let rowCount = 0;
  let text = "";
  for await (const { rowCount: rows, vectors } of batches) {
    for (let row = 0; row < rows; row++) {
      text += `-[ row ${++rowCount} ]${"-".repeat(Math.max(2, width))}\n`;
      for (const [i, { type }] of headers.entries()) {
        const cell = cellText(vectors[i], type, row);
        const lines = cell === undefined ? [NULL_TEXT] : cell === NULL_TEXT ? [`"${NULL_TEXT}"`] : cell.split("\n").map(shownLine);
        text += `${names[i]} | ${lines.join(`\n${" ".repeat(width)} | `)}\n`;
      }
      if (text.length < PIECE_CHARACTERS) continue;
      await write(text);
      text = "";
    }
  }
  await write(text);
  return { rowCount };
}

/** CSV with names, as `COPY TO` writes it: an empty field is NULL, `""` the empty text. */
export async function printCsv(rows: AnsweredRows, write: (bytes: Uint8Array) => Promise<void>): Promise<Printed> {
  const counted = { rows: 0 };
  for await (const piece of encodeCsv(rows.headers, counting(rows.batches, counted), copyOptions({ format: "csv" }, "to")))
    await write(piece);
  return { rowCount: counted.rows };
}

/** One object a line, as `COPY TO` writes it: NULL is left out. */
export async function printJson(rows: AnsweredRows, write: (bytes: Uint8Array) => Promise<void>): Promise<Printed> {
  const counted = { rows: 0 };
  for await (const piece of encodeJson(rows.headers, counting(rows.batches, counted), copyOptions({ format: "json" }, "to")))
    await write(piece);
  return { rowCount: counted.rows };
}

async function* counting(batches: AsyncIterable<Batch>, counted: { rows: number }): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    counted.rows += batch.rowCount;
    yield batch;
  }
}
