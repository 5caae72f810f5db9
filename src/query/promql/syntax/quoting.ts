/**
 * Text in double quotes with escapes for what does not print, as clients of Prometheus know it from errors and printed queries. Bytes that
 * are no UTF-8 (`string-value.ts`) are printed as they were written.
 */
import { strayByte } from "./string-value.ts";

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
]);
/** Letters, marks, numbers, punctuation, symbols and the blank print. U+FFFD does not: in a query it would be refused. */
const ALL_PRINT = /^[[\p{L}\p{M}\p{N}\p{P}\p{S} ]--\ufffd]*$/v;
const NO_PRINT_OR_ESCAPE = /[^[\p{L}\p{M}\p{N}\p{P}\p{S} ]--[\ufffd"\\]]+/gv;

/** `"text"`. */
export function quoted(text: string): string {
  if (ALL_PRINT.test(text) && !text.includes('"') && !text.includes("\\")) return `"${text}"`;
  return `"${text.replaceAll(NO_PRINT_OR_ESCAPE, escapedAll)}"`;
}

/** `'c'`, of one character; what stands behind the end of the text is U+FFFD. */
export function quotedCharacter(character: string): string {
  const shown = character === "" ? "\ufffd" : character.toWellFormed();
  if (shown === "'") return "'\\''";
  return `'${shown === "\ufffd" || (ALL_PRINT.test(shown) && shown !== "\\") ? shown : escaped(shown)}'`;
}

/** `U+002E '.'`; what does not print has its number alone. */
export function numberedCharacter(character: string): string {
  const shown = character.toWellFormed();
  const number = `U+${(shown.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  return shown === "\ufffd" || ALL_PRINT.test(shown) ? `${number} '${shown}'` : number;
}

/** Characters that stand side by side. */
function escapedAll(run: string): string {
  let made = "";
  for (const character of run) made += character === '"' ? '\\"' : escaped(character);
  return made;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x80 && code < 0xd800) return `\\u${(code + 0x1_0000).toString(16).slice(1)}`;
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  const byte = strayByte(character);
  if (byte !== undefined) return `\\x${byte.toString(16)}`;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x1_0000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
