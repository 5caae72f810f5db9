/**
 * Texts of MySQL as the grammar reads them: in quotes a backslash stands before a character that means something else there, which the
 * grammar does not know. Drivers write values that way, so that a value could end its quotes if it were left. What `\n` and its kin stand
 * for takes their place, and quotes are doubled; what has no backslash is the same text.
 *
 *   'it\'s' ─► 'it''s'      "a\"b" ─► "a""b"      'C:\\x\n' ─► C:\x and a line end      'a\%' ─► 'a\%', which LIKE reads
 *
 * Where MySQL gives a backslash no meaning it drops it; here it stays, as the contract's server has it, for patterns by hand: '\d+'. No
 * driver writes one. PromQL in TQL has the backslashes itself: only what it spells otherwise is spelt its way, quotes by their number.
 *
 *   TQL EVAL (0, 9, '1s') m{h=~"a\\.b", p='it\'s'} ─► TQL EVAL (0, 9, '1s') m{h=~"a\\.b", p='it\x27s'}
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
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
]);

/** What PromQL writes otherwise; the rest is the same in both. */
const PROMQL_MEANINGS: ReadonlyMap<string, string> = new Map([
  ["0", "\\x00"],
  ["Z", "\\x1a"],
  ["'", "\\x27"],
  ['"', "\\x22"],
]);

/** What begins a text, a name, a comment or TQL. */
const SQL_MARKS = /['"`$]|--|\/\*|\btql\s+(?:eval|evaluate|explain|analyze)\b/gi;
/** The same within TQL, and what ends it: the end of the statement, or of the parentheses around it. */
const TQL_MARKS = /['"`$;()]|--|\/\*/g;

/** The text without such backslashes; yields where others may have a turn. What is not closed stays open. */
export function* withoutBackslashes(text: string): Generator<undefined, string> {
  if (!text.includes("\\")) return text;
  const pieces: string[] = [];
  let taken = 0;
  let count = 0;
  /** Parentheses that are open since TQL began; undefined outside of it. */
  let depth: number | undefined;
  for (let at = 0; ; ) {
    if (++count % MARKS_AT_ONCE === 0) yield;
    const marks = depth === undefined ? SQL_MARKS : TQL_MARKS;
    marks.lastIndex = at; // Each time: others may have used it meanwhile.
    const found = marks.exec(text);
    if (found === null) break;
    const [mark] = found;
    at = found.index + mark.length;
    if (mark.length > 2) depth = 0;
    else if (depth !== undefined && /[();]/.test(mark)) depth = depthBehind(depth, mark);
    else if ((mark !== "'" && mark !== '"') || isEscapedText(text, found.index)) at = behindMark(text, found.index, mark);
    else {
      const meanings = depth === undefined ? MEANINGS : PROMQL_MEANINGS;
      const inside = mark === "'" ? /['\\]/g : /["\\]/g;
      inside.lastIndex = at;
      at = text.length;
      for (let each = inside.exec(text); each !== null; each = inside.exec(text)) {
        if (++count % MARKS_AT_ONCE === 0) yield;
        if (each[0] === mark) {
          at = inside.lastIndex; // A doubled quote begins another one, to the same end.
          break;
        }
        const escaped = text.charAt(each.index + 1);
        const meant = meanings.get(escaped) ?? (escaped === "" ? "" : `\\${escaped}`);
        pieces.push(text.slice(taken, each.index), meant === mark ? mark + mark : meant);
        taken = each.index + 2;
        inside.lastIndex = taken;
      }
    }
  }
  pieces.push(text.slice(taken));
  return pieces.join("");
}

/** Parentheses of TQL that are open behind a mark; undefined: it ends there. */
function depthBehind(depth: number, mark: string): number | undefined {
  if (mark === "(") return depth + 1;
  return mark === ";" || depth === 0 ? undefined : depth - 1;
}

/** Whether the quote is that of E'…', which has the grammar's own backslashes. */
function isEscapedText(text: string, at: number): boolean {
  return text[at] === "'" && /(?:^|[^\w$])[eE]$/.test(text.slice(Math.max(0, at - 2), at));
}
