/** What people read of a statement that failed: the server's words, and the place under its line. */
import { errorText } from "../../base/error.ts";
import { Refusal } from "../common/refusal.ts";
import type { CutStatement } from "./statements.ts";

/** Characters of a line that are shown: what is longer is cut around the place. */
const SHOWN_CHARACTERS = 120;

/** Names that the server's texts speak of: those of a table, of a column, of a function. */
const NAMED = /(?:Table not found: (?:[\w.]*\.)?|No field named |Invalid function '|Column )(["`]?[\w]+["`]?)/;

/** The error in lines, each with its end. @param isNumbered whether the line's number in the whole text is said */
export function failureText(thrown: unknown, statement: CutStatement, isNumbered: boolean): string {
  const said = errorText(thrown);
  const code = thrown instanceof Refusal && thrown.code !== undefined ? ` ${thrown.code}` : "";
  const where = isNumbered ? `line ${statement.line}: ` : "";
  const span = thrown instanceof Refusal ? spanOf(thrown, said, statement.text) : undefined;
  return `${where}error${code}: ${said}\n${span === undefined ? "" : markedLine(statement, span)}`;
}

/** Lines and columns are counted from 0 here. */
interface Span {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

function spanOf({ position }: Refusal, said: string, text: string): Span | undefined {
  const lines = text.split("\n");
  if (position !== undefined) {
    const line = position.line - 1;
    const behind = lines[line]?.slice(position.column - 1);
    if (behind === undefined) return undefined;
    return { line, column: position.column - 1, length: Math.max(1, /^(?:\w+|'[^']*'?|"[^"]*"?)/.exec(behind)?.[0].length ?? 1) };
  }
  const name = NAMED.exec(said)?.[1]?.replace(/["`]/g, "");
  if (name === undefined) return undefined;
  const word = new RegExp(`(?<![\\w])${name}(?![\\w])`, "gi");
  const places = lines.flatMap((line, at) =>
    [...line.matchAll(word)].map(({ index }) => ({ line: at, column: index, length: name.length })),
  );
  return places.length === 1 ? places[0] : undefined; // Of several it could be any.
}

function markedLine({ text, line: first }: CutStatement, { line, column, length }: Span): string {
  const whole = (text.split("\n")[line] ?? "").replaceAll("\t", " ");
  const from = column > SHOWN_CHARACTERS - 20 ? column - SHOWN_CHARACTERS / 2 : 0;
  const shown = whole.slice(from, from + SHOWN_CHARACTERS);
  const number = `${first + line} | `;
  const before = Bun.stringWidth(shown.slice(0, column - from));
  const marks = Math.min(length, Math.max(1, shown.length - (column - from)));
  return `${number}${shown}\n${" ".repeat(number.length + before)}^${"~".repeat(marks - 1)}\n`;
}
