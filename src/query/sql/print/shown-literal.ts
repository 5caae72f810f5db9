/** How much of a long literal or name is written where an expression names a column or stands in an error or a plan. */

/**
 * Characters of a literal or a name that are written where an expression is shown or names a column. Reason: a literal may have 15 MB,
 * whose doubled quotes would be written at once, and a client reads no more of a name. The rest is `…`; nothing fails.
 */
export const SHOWN_LITERAL_CHARACTERS: number = 4096;

/** A text, or its beginning and `…`; a character of two halves stays whole. @param charactersMax default: the text is whole */
export function shownText(text: string, charactersMax: number = Number.POSITIVE_INFINITY): string {
  if (text.length <= charactersMax) return text;
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(charactersMax - 1));
  return `${text.slice(0, isHalf ? charactersMax - 1 : charactersMax)}…`;
}

/** Bytes as hex digits, or the first of them and `…`. @param charactersMax digits; default: all */
export function shownHex(bytes: Uint8Array, charactersMax: number = Number.POSITIVE_INFINITY): string {
  if (2 * bytes.length <= charactersMax) return Buffer.from(bytes).toString("hex");
  return `${Buffer.from(bytes.subarray(0, charactersMax / 2)).toString("hex")}…`;
}
