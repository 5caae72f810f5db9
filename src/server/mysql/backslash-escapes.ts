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
 *
 * Bytes behind `_binary`, which need be no UTF-8, become a literal of hex digits: _binary'\0\'' ─► X'0027'.
 */
import { behindMark } from "../wire/split-statements.ts";
import { utf8 } from "./codec.ts";

/** Marks between two turns of others: about five milliseconds. */
const MARKS_AT_ONCE = 64 * 1024;

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["\0", "\0"], // as MariaDB's Connector/J has it
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
  ["\0", "\\x00"],
  ["Z", "\\x1a"],
  ["'", "\\x27"],
  ['"', "\\x22"],
]);

/** What begins a text, a name, a comment or TQL. */
const SQL_MARKS = /['"`$]|--|\/\*|\btql\s+(?:eval|evaluate|explain|analyze)\b/gi;
/** The same within TQL, and what ends it: the end of the statement, or of the parentheses around it. */
const TQL_MARKS = /['"`$;()]|--|\/\*/g;

/** Before a quote: what it holds are bytes. */
const INTRODUCER = /(?:^|[^\w$])(_binary[ ]{0,4})$/i;
/** Characters of the longest one, and one before it. */
const INTRODUCER_CHARACTERS = 12;

/** A client's text as the grammar reads it; yields where others may have a turn. @throws MalformedPacket for bytes that are no UTF-8 */
export function* grammarText(sent: Uint8Array): Generator<undefined, string> {
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  if (!bytes.includes("_binary")) return yield* withoutBackslashes(utf8(sent));
  // A character a byte: marks are ASCII, whose bytes are no part of other characters.
  const plain = yield* withoutBackslashes(bytes.toString("latin1"), true);
  return utf8(Buffer.from(plain, "latin1"));
}

/**
 * The text without such backslashes; yields where others may have a turn. What is not closed stays open.
 *
 * @param isBytes a character is a byte, and `_binary` is known
 */
export function* withoutBackslashes(text: string, isBytes = false): Generator<undefined, string> {
  if (!isBytes && !text.includes("\\")) return text;
  const done: Done = { pieces: [], taken: 0, count: 0 };
  /** Parentheses that are open since TQL began; undefined outside of it. */
  let depth: number | undefined;
  for (let at = 0; ; ) {
    if (++done.count % MARKS_AT_ONCE === 0) yield;
    const marks = depth === undefined ? SQL_MARKS : TQL_MARKS;
    marks.lastIndex = at; // Each time: others may have used it meanwhile.
    const found = marks.exec(text);
    if (found === null) break;
    const { index } = found;
    const [mark] = found;
    at = index + mark.length;
    if (mark.length > 2) depth = 0;
    else if (depth !== undefined && /[();]/.test(mark)) depth = depthBehind(depth, mark);
    else if ((mark !== "'" && mark !== '"') || isEscapedText(text, index)) at = behindMark(text, index, mark);
    else {
      const introducer = isBytes && mark === "'" ? introducerBefore(text, index) : 0;
      if (introducer === 0) at = yield* unescape(text, at, mark, depth === undefined ? MEANINGS : PROMQL_MEANINGS, done);
      else {
        const start = index - introducer;
        const { digits, end } = yield* hexOf(text, at);
        done.pieces.push(text.slice(done.taken, start), digits === undefined ? text.slice(start) : `X'${digits}'`);
        at = end;
        done.taken = end;
      }
    }
  }
  done.pieces.push(text.slice(done.taken));
  return done.pieces.join("");
}

/** How far a text is. */
interface Done {
  /** Of the text before `taken`. */
  readonly pieces: string[];
  taken: number;
  /** Marks looked at. */
  count: number;
}

/** Takes the backslashes out of a quoted text from behind its quote on. @returns what follows its end */
function* unescape(
  text: string,
  start: number,
  quote: string,
  meanings: ReadonlyMap<string, string>,
  done: Done,
): Generator<undefined, number> {
  const inside = quote === "'" ? /['\\]/g : /["\\]/g;
  inside.lastIndex = start;
  for (let found = inside.exec(text); found !== null; found = inside.exec(text)) {
    if (++done.count % MARKS_AT_ONCE === 0) yield;
    if (found[0] === quote) return inside.lastIndex; // A doubled quote begins another one, to the same end.
    const escaped = text.charAt(found.index + 1);
    const meant = meanings.get(escaped) ?? (escaped === "" ? "" : `\\${escaped}`);
    done.pieces.push(text.slice(done.taken, found.index), meant === quote ? quote + quote : meant);
    done.taken = found.index + 2;
    inside.lastIndex = done.taken;
  }
  return text.length;
}

/** Parentheses of TQL that are open behind a mark; undefined: it ends there. */
function depthBehind(depth: number, mark: string): number | undefined {
  if (mark === "(") return depth + 1;
  return mark === ";" || depth === 0 ? undefined : depth - 1;
}

/** Characters of a `_binary` that stands right before the quote; 0 without one. */
function introducerBefore(text: string, at: number): number {
  return INTRODUCER.exec(text.slice(Math.max(0, at - INTRODUCER_CHARACTERS), at))?.[1]?.length ?? 0;
}

/** Bytes of a quoted text as hex digits, and what follows its quote; no digits where it is not closed. */
function* hexOf(text: string, start: number): Generator<undefined, { readonly digits: string | undefined; readonly end: number }> {
  const inside = /['\\]/g;
  const parts: string[] = [];
  let taken = start;
  inside.lastIndex = start;
  for (let found = inside.exec(text); found !== null; found = inside.exec(text)) {
    if (parts.length % MARKS_AT_ONCE === MARKS_AT_ONCE - 2) yield;
    const next = text.charAt(found.index + 1);
    parts.push(text.slice(taken, found.index));
    if (found[0] === "'" && next !== "'") {
      return { digits: Buffer.from(parts.join(""), "latin1").toString("hex"), end: found.index + 1 };
    }
    parts.push(found[0] === "'" ? "'" : (MEANINGS.get(next) ?? `\\${next}`));
    taken = found.index + 2;
    inside.lastIndex = taken;
  }
  return { digits: undefined, end: text.length };
}

/** Whether the quote is that of E'…', which has the grammar's own backslashes. */
function isEscapedText(text: string, at: number): boolean {
  return text[at] === "'" && /(?:^|[^\w$])[eE]$/.test(text.slice(Math.max(0, at - 2), at));
}
