/** Names and strings → text. */
import type { ObjectName } from "./ast.ts";
import { isReserved } from "./keywords.ts";

/** A name with its dots, in quotes where needed: `public."My Table"`. */
export function printName(name: ObjectName): string {
  return name.map((part) => printPart(part)).join(".");
}

/** One part of a name. */
export function printPart(part: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(part) && !isReserved(part) ? part : quoteName(part);
}

/** `'it''s'`. */
export function printString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** `"x"`, whether it needs quotes or not. */
export function quoteName(part: string): string {
  return `"${part.replaceAll('"', '""')}"`;
}
