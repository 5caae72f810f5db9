/** An answer beside what a case expects. */
import type { Case } from "./case-file.ts";
import { cellText, type JsonValue } from "./cell-text.ts";

/** What a server answered. */
export type Reply =
  | { readonly kind: "error"; readonly code: number | undefined; readonly text: string }
  | { readonly kind: "affected"; readonly count: number | undefined }
  | {
      readonly kind: "rows";
      readonly columns: readonly string[];
      readonly types: readonly string[];
      readonly rows: readonly (readonly JsonValue[])[];
    };

/** How a case ended. */
export interface Verdict {
  /** Why it failed; undefined: it passed. */
  readonly why: string | undefined;
  /** The error is another one than expected. */
  readonly code?: "same" | "other";
}

const PASS: Verdict = { why: undefined };
const FLOAT_TOLERANCE = 1e-9;

/** Compares by values: column names and texts of errors are the reference's own. */
export function compare(item: Case, reply: Reply): Verdict {
  const { expect, sort, replace } = item;
  if (expect.error !== undefined) {
    if (reply.kind !== "error") return { why: "an error was expected, none came" };
    return expect.code === undefined ? PASS : { why: undefined, code: expect.code === reply.code ? "same" : "other" };
  }
  if (reply.kind === "error") return { why: `error ${reply.code ?? ""}: ${reply.text}` };
  if (expect.affected !== undefined) {
    const count = reply.kind === "rows" && reply.rows.length === 0 ? 0 : reply.kind === "affected" ? (reply.count ?? 0) : undefined;
    return count === expect.affected ? PASS : { why: `${expect.affected} affected rows were expected, ${count ?? "a result"} came` };
  }
  if (reply.kind === "affected") {
    const isEmpty = expect.text === undefined && (expect.rows ?? []).length === 0;
    return isEmpty ? PASS : { why: "rows were expected, a count came" };
  }
  const cells = reply.rows.map((row) => row.map((value, i) => cellText(value, reply.types[i] ?? "")));
  if (expect.text !== undefined || replace !== undefined) return compareText(item, reply.columns, cells);
  return compareRows(expect.columns ?? [], expect.rows ?? [], reply, cells, sort === true, expect.header_in_rows === true);
}

function compareRows(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  reply: Extract<Reply, { kind: "rows" }>,
  cells: readonly (readonly string[])[],
  isSorted: boolean,
  hasHeader: boolean,
): Verdict {
  const want = rows.flatMap(printedLines);
  const got = (hasHeader ? [reply.columns, ...cells] : cells).flatMap(printedLines);
  if (columns.length === 0 && rows.length === 0) return cells.length === 0 ? PASS : { why: `no rows were expected, ${cells.length} came` };
  if (!hasHeader && columns.length !== reply.columns.length)
    return { why: `columns ${columns.join(", ")} were expected, ${reply.columns.join(", ")} came` };
  if (want.length !== got.length) return { why: `${want.length} rows were expected, ${got.length} came: ${shown(want)} and ${shown(got)}` };
  const key = (row: readonly string[]): string => row.map((cell, i) => sortKey(cell, reply.types[i] ?? "")).join("\u0001");
  const ordered = (list: readonly (readonly string[])[]): readonly (readonly string[])[] =>
    isSorted || hasHeader ? list.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)) : list;
  const [a, b] = [ordered(want), ordered(got)];
  for (const [r, row] of a.entries()) {
    const other = b[r] ?? [];
    const at = row.findIndex((cell, c) => !sameCell(cell, other[c] ?? "", reply.types[c] ?? ""));
    if (at !== -1) return { why: `row ${r}, column ${columns[at] ?? at}: ${shown(row[at])} was expected, ${shown(other[at])} came` };
  }
  return PASS;
}

/** A last digit must not reorder rows, nor a number that JSON has not. */
function sortKey(cell: string, type: string): string {
  if (type.startsWith("Float") && ["NaN", "inf", "-inf"].includes(cell)) return "";
  const number = type.startsWith("Float") && cell !== "" ? Number(cell) : Number.NaN;
  return Number.isNaN(number) ? cell : number.toPrecision(9);
}

/** A row as it is printed: a cell with line breaks takes several lines, on which the other cells are empty. */
function printedLines(row: readonly string[]): readonly (readonly string[])[] {
  const split = row.map((cell) => cell.split("\n"));
  const height = Math.max(1, ...split.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => split.map((lines) => (lines[line] ?? "").trimEnd()));
}

function sameCell(want: string, got: string, type: string): boolean {
  if (want.trimEnd() === got) return true;
  if (type.startsWith("Float")) {
    if (got === "") return ["NaN", "inf", "-inf"].includes(want); // JSON has no such numbers.
    const [a, b] = [Number(want), Number(got)];
    return a === b || Math.abs(a - b) <= FLOAT_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
  }
  return (type.startsWith("Json") || /^[[{]/.test(want)) && sameJson(want, got);
}

function sameJson(want: string, got: string): boolean {
  try {
    return Bun.deepEquals(JSON.parse(want), JSON.parse(got));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Printed tables after replacements; cell by cell where the texts differ, since widths change under a replacement. */
function compareText(item: Case, columns: readonly string[], cells: readonly (readonly string[])[]): Verdict {
  const { expect, sort, replace } = item;
  const want = expect.text ?? tableText(expect.columns ?? columns, expect.rows ?? []);
  let got = tableText(columns, cells);
  // `${1}` is a group there, `$1` here.
  for (const [pattern, to] of replace ?? []) got = got.replaceAll(new RegExp(pattern, "g"), to.replaceAll(/\$\{(\d+)\}/g, "$$$1"));
  const lines = (text: string): readonly string[] => {
    const found = text
      .trim()
      .replaceAll(/-+/g, "-")
      .split(/\s*\n\s*/);
    return sort === true ? found.toSorted() : found;
  };
  if (Bun.deepEquals(lines(want), lines(got))) return PASS;
  const [a, b] = [lines(want), lines(got)].map((list) => list.filter((line) => !line.startsWith("+")).map(cellsOfLine));
  return Bun.deepEquals(a, b) ? PASS : { why: `text differs: ${shown(a)} was expected, ${shown(b)} came` };
}

/** A bordered table, as the case files were printed. */
function tableText(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (columns.length === 0) return "++\n++";
  const [header, ...lines] = [columns, ...rows.flatMap(printedLines)];
  const widths = columns.map((_, c) => Math.max(...[header, ...lines].map((line) => Bun.stringWidth(line[c] ?? ""))));
  const border = `+${widths.map((width) => "-".repeat(width + 2)).join("+")}+`;
  const printed = (line: readonly string[]): string =>
    `|${line.map((cell, c) => ` ${cell}${" ".repeat((widths[c] ?? 0) - Bun.stringWidth(cell) + 1)}`).join("|")}|`;
  return [border, printed(header), border, ...lines.map(printed), ...(rows.length === 0 ? [] : [border])].join("\n");
}

function cellsOfLine(line: string): string {
  return line.trim().replaceAll(/\s*\|\s*/g, "|");
}

const SHOWN_CHARACTERS = 400;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
