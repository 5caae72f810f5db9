/**
 * Bytes as drivers write them into a text that they fill in themselves, `'\x00ff'::bytea`: for the grammar a text whose characters would
 * be the bytes. They become its own literal of as many characters, so that places in errors stay what they are.
 *
 *   '\x00ff'::bytea ─► X'00ff'·········      an odd number of digits, other digits, E'…' and `::bytea[]` stay
 */
import { behindMark } from "../wire/split-statements.ts";

/** Marks between two turns of others: about five milliseconds. */
const MARKS_AT_ONCE = 64 * 1024;

const BYTEA = /'\\x((?:[0-9a-fA-F]{2})*)'::bytea(?![\w$[])/iy;

/** The text with such literals; yields where others may have a turn. */
export function* withHexLiterals(text: string): Generator<undefined, string> {
  if (!text.includes("'\\x")) return text;
  const marks = /['"`$]|--|\/\*/g;
  const pieces: string[] = [];
  let taken = 0;
  let count = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (++count % MARKS_AT_ONCE === 0) yield;
    BYTEA.lastIndex = mark.index;
    const found = mark[0] === "'" && !/[\w$&']/.test(text.charAt(mark.index - 1)) ? BYTEA.exec(text) : null;
    marks.lastIndex = found === null ? behindMark(text, mark.index, mark[0]) : BYTEA.lastIndex;
    if (found === null) continue;
    pieces.push(text.slice(taken, mark.index), `X'${found[1] ?? ""}'`.padEnd(found[0].length));
    taken = BYTEA.lastIndex;
  }
  pieces.push(text.slice(taken));
  return pieces.join("");
}
