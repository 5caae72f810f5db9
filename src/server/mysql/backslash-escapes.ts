/**
 * Texts of MySQL as the grammar reads them: in quotes a backslash stands before a character that means something else there, which the
 * grammar does not know. Drivers write values that way, so that a value could end its quotes if it were left. What `\n` and its kin stand
 * for takes their place, and quotes are doubled; what has no backslash is the same text.
 *
 *   'it\'s' ─► 'it''s'      "a\"b" ─► "a""b"      'C:\\x\n' ─► C:\x and a line end      'a\%' ─► 'a\%', which LIKE reads
 *
 * Bytes behind `_binary`, which need be no UTF-8, become a literal of hex digits: _binary'\0\'' ─► X'0027'.
 */
import { behindMark } from "../wire/split-statements.ts";
import { utf8 } from "./codec.ts";

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
    const introducer = isBytes && quote === "'" ? introducerBefore(text, mark.index) : 0;
    if (introducer > 0) {
      const start = mark.index - introducer;
      const { digits, end } = yield* hexOf(text, mark.index + 1);
      pieces.push(text.slice(taken, start), digits === undefined ? text.slice(start) : `X'${digits}'`);
      taken = end;
      marks.lastIndex = end;
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
    parts.push(found[0] === "'" ? "'" : (MEANINGS.get(next) ?? next));
    taken = found.index + 2;
    inside.lastIndex = taken;
  }
  return { digits: undefined, end: text.length };
}

/** Whether the quote is that of E'…', which has the grammar's own backslashes. */
function isEscapedText(text: string, at: number): boolean {
  return text[at] === "'" && /(?:^|[^\w$])[eE]$/.test(text.slice(Math.max(0, at - 2), at));
}
