/**
 * Rows as a table. Widths come from the first rows, so that an answer of any length is printed as it comes; what is wider later is cut
 * there. On a terminal wide columns give way first; what does not fit at all is left out, and a line says so.
 */
import type { Batch } from "../../column/batch.ts";
import type { AnsweredRows } from "../common/arrow-answer.ts";
import { cellText, isNumeric, shownCell } from "./cell-text.ts";

/** Rows that widths are taken from. */
const MEASURED_ROWS = 1000;
/** Widest cell where no terminal says how much room there is. */
const WIDTH_MAX = 200;
/** A column is narrowed to this before one is left out. */
const NARROW_WIDTH = 12;
/** Characters that are handed on at a time. */
const PIECE_CHARACTERS = 64 * 1024;

/** What a printer tells when it is through. */
export interface Printed {
  readonly rowCount: number;
  /** What is not shown, for people. */
  readonly hint?: string | undefined;
}

/** Takes text; resolves once there is room for more. */
export type Write = (text: string) => Promise<void>;

/** Prints all rows. @param columnsMax characters of a line; undefined: no limit */
export async function printTable({ headers, batches }: AnsweredRows, write: Write, columnsMax: number | undefined): Promise<Printed> {
  const names = headers.map(({ name }) => shownCell(name));
  const held: (readonly string[])[] = [];
  let table: TableLines | undefined;
  let rowCount = 0;
  let text = "";
  for await (const batch of batches) {
    for (let row = 0; row < batch.rowCount; row++) {
      const cells = cellsOf(batch, headers, row);
      rowCount++;
      if (table === undefined) {
        held.push(cells);
        if (held.length < MEASURED_ROWS) continue;
        table = new TableLines(
          names,
          headers.map(({ type }) => isNumeric(type)),
          held,
          columnsMax,
        );
        text += table.head() + held.map((cellsOfRow) => table?.line(cellsOfRow)).join("");
      } else text += table.line(cells);
      if (text.length < PIECE_CHARACTERS) continue;
      await write(text);
      text = "";
    }
  }
  if (table === undefined) {
    const whole = new TableLines(
      names,
      headers.map(({ type }) => isNumeric(type)),
      held,
      columnsMax,
    );
    table = whole;
    text = whole.head() + held.map((cells) => whole.line(cells)).join("");
  }
  await write(text);
  return { rowCount, hint: table.hint() };
}

function cellsOf({ vectors }: Batch, headers: AnsweredRows["headers"], row: number): readonly string[] {
  return headers.map(({ type }, i) => shownCell(cellText(vectors[i], type, row)));
}

/** The lines of one table. */
class TableLines {
  private readonly names: readonly string[];
  private readonly atRight: readonly boolean[];
  private readonly widths: readonly number[];
  private isCut = false;

  constructor(names: readonly string[], atRight: readonly boolean[], rows: readonly (readonly string[])[], columnsMax: number | undefined) {
    this.names = names;
    this.atRight = atRight;
    const wanted = names.map((name, i) => {
      let width = Bun.stringWidth(name);
      for (const row of rows) width = Math.max(width, Bun.stringWidth(row[i] ?? ""));
      return Math.max(1, width);
    });
    this.widths = fittingWidths(wanted, columnsMax);
  }

  head(): string {
    return `${this.line(this.names)}${this.widths.map((width) => "-".repeat(width)).join("-+-")}\n`;
  }

  line(cells: readonly string[]): string {
    const { widths, atRight } = this;
    let line = "";
    for (let i = 0; i < widths.length; i++) {
      const width = widths[i] ?? 0;
      let cell = cells[i] ?? "";
      let cellWidth = Bun.stringWidth(cell);
      if (cellWidth > width) {
        cell = cutTo(cell, width);
        cellWidth = Bun.stringWidth(cell);
        this.isCut = true;
      }
      const blanks = " ".repeat(width - cellWidth);
      if (i > 0) line += " | ";
      line += atRight[i] === true ? blanks + cell : cell + blanks;
    }
    return `${line.trimEnd()}\n`;
  }

  hint(): string | undefined {
    const left = this.names.slice(this.widths.length);
    const how = "\\x shows every value whole, a line each";
    if (left.length > 0) return `${left.length} more columns do not fit: ${cutTo(left.join(", "), 60)}; ${how}`;
    return this.isCut ? `… stands for what does not fit; ${how}` : undefined;
  }
}

/** Widths that fit a line: the widest columns are narrowed first; columns that still do not fit are not there. */
export function fittingWidths(wanted: readonly number[], columnsMax: number | undefined): readonly number[] {
  if (columnsMax === undefined) return wanted.map((width) => Math.min(width, WIDTH_MAX));
  const seams = (count: number): number => 3 * Math.max(0, count - 1);
  const least = wanted.map((width) => Math.min(width, NARROW_WIDTH));
  let count = 0;
  for (let used = 0; count < least.length; count++) {
    used += least[count] ?? 0;
    if (count > 0 && used + seams(count + 1) > columnsMax) break;
  }
  const shown = wanted.slice(0, count);
  const room = Math.max(columnsMax - seams(count), 1);
  // The largest width to which all may grow: each step up costs what the columns that want more take.
  let most = Math.max(...shown, 1);
  let low = 1;
  while (low < most) {
    const middle = Math.ceil((low + most) / 2);
    if (shown.reduce((sum, width) => sum + Math.min(width, middle), 0) <= room) low = middle;
    else most = middle - 1;
  }
  return shown.map((width) => Math.min(width, low));
}

/** A text cut to a width, with a mark at its end. */
function cutTo(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let used = 1;
  let out = "";
  for (const character of text) {
    used += Bun.stringWidth(character);
    if (used > width) break;
    out += character;
  }
  return `${out}…`;
}
