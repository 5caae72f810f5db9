/**
 * What may be the name of a table, a view, a column or a database: any text that is not empty, is Unicode, holds no control character and
 * is not too long (contract README 26). SQL quotes what is no plain word; no name is ever part of a file's path as it is.
 */
import { invalidArguments } from "../base/error.ts";
import { NAME_BYTES_MAX } from "../base/limits.ts";

/** C0, DEL and C1. They cannot be seen, and end lines, headers and C strings. */
const CONTROL = /\p{Cc}/u;
const CONTROLS = /\p{Cc}/gu;
/** Characters of a name that an error shows. */
const SHOWN_CHARACTERS_MAX = 120;

/** Why a text is no name; undefined when it is one. */
export function nameFlaw(name: string): string | undefined {
  if (name === "") return "the empty name cannot be used";
  // A character takes 3 bytes at most in UTF-8: short names need not be counted.
  if (name.length * 3 > NAME_BYTES_MAX && Buffer.byteLength(name) > NAME_BYTES_MAX) return `it has more than ${NAME_BYTES_MAX} bytes`;
  if (CONTROL.test(name)) return "it holds a control character";
  return name.isWellFormed() ? undefined : "it is not Unicode: half of a surrogate pair stands alone";
}

/** Whether a text may be a name. */
export function isName(name: string): boolean {
  return nameFlaw(name) === undefined;
}

/** A name as an error shows it, whatever it holds. */
export function shownName(name: string): string {
  const shown = name.replaceAll(CONTROLS, " ").toWellFormed();
  return shown.length > SHOWN_CHARACTERS_MAX ? `${shown.slice(0, SHOWN_CHARACTERS_MAX).toWellFormed()}…` : shown;
}

/** Checks the name of a table or view. @throws DbError InvalidArguments */
export function checkTableName(name: string): void {
  const flaw = nameFlaw(name);
  if (flaw !== undefined) throw invalidArguments(`Invalid table name: ${shownName(name)}: ${flaw}`);
}

/** What tells a table from all others in a map: no name holds the zero byte. */
export function tableNameKey(database: string, table: string): string {
  return `${database}\0${table}`;
}
