/**
 * Texts of MySQL as the grammar reads them: in quotes a backslash stands before a character that means something else there, which the
 * grammar does not know. Drivers write values that way, so that a value could end its quotes if it were left. What `\n` and its kin stand
 * for takes their place, and quotes are doubled; what has no backslash is the same text.
 *
 *   'it\'s' ─► 'it''s'      "a\"b" ─► "a""b"      'C:\\x\n' ─► C:\x and a line end      'a\%' ─► 'a\%', which LIKE reads
 */
import { behindMark } from "../wire/split-statements.ts";

/** Marks between two turns of others: about five milliseconds. */
const MARKS_AT_ONCE = 64 * 1024;

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["b", "\b"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["Z", "\u001a"],
  ["%", "\\%"],
  ["_", "\\_"],
]);

/** The text without such backslashes; yields where others may have a turn. What is not closed stays open. */
export function* withoutBackslashes(text: string): Generator<undefined, string> {
  if (!text.includes("\\")) return text;
  const marks = /['"`$]|--|\/\*/g;
  const pieces: string[] = [];
  let taken = 0;
  let count = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (++count % MARKS_AT_ONCE === 0) yield;
    const [quote] = mark;
    if ((quote !== "'" && quote !== '"') || isEscapedText(text, mark.index)) {
      marks.lastIndex = behindMark(text, mark.index, quote);
      continue;
    }
    const inside = quote === "'" ? /['\\]/g : /["\\]/g;
    inside.lastIndex = mark.index + 1;
    let end = text.length;
    for (let found = inside.exec(text); found !== null; found = inside.exec(text)) {
      if (++count % MARKS_AT_ONCE === 0) yield;
      if (found[0] === quote) {
        end = inside.lastIndex; // A doubled quote begins another one, to the same end.
        break;
      }
      const escaped = text.charAt(found.index + 1);
      pieces.push(text.slice(taken, found.index), escaped === quote ? quote + quote : (MEANINGS.get(escaped) ?? escaped));
      taken = found.index + 2;
      inside.lastIndex = taken;
    }
    marks.lastIndex = end;
  }
  pieces.push(text.slice(taken));
  return pieces.join("");
}

/** Whether the quote is that of E'…', which has the grammar's own backslashes. */
function isEscapedText(text: string, at: number): boolean {
  return text[at] === "'" && /(?:^|[^\w$])[eE]$/.test(text.slice(Math.max(0, at - 2), at));
}
