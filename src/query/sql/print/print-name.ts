/** Names and strings → text. */
import type { ObjectName } from "../syntax/ast.ts";
import { isReserved } from "../syntax/keywords.ts";

/** What a name looks like that needs no quotes, unless it is a keyword. */
const PLAIN_NAME = /^[a-z_][a-z0-9_$]*$/;

/** A name with its dots, in quotes where needed: `public."My Table"`. */
export function printName(name: ObjectName): string {
  return name.map((part) => printPart(part)).join(".");
}

/** One part of a name. */
export function printPart(part: string): string {
  return PLAIN_NAME.test(part) && !isReserved(part) ? part : quoteName(part);
}

/** `'it''s'`. */
export function printString(text: string): string {
  return text.includes("'") ? `'${text.replaceAll("'", "''")}'` : `'${text}'`;
}

/** `"x"`, whether it needs quotes or not. */
export function quoteName(part: string): string {
  return `"${part.replaceAll('"', '""')}"`;
}
