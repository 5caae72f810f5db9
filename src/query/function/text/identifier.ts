/** Names as SQL writes them. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** A name as SQL text: in quotes where it would not read back otherwise. */
export function quoteIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The parts of a qualified name, folded as SQL does. @throws DbError EngineExecuteQuery for what is no name */
export function namesOf(text: string): string[] {
  const parts: string[] = [];
  const part = /\s*(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))\s*(\.|$)/uy;
  for (let more = true; more; ) {
    const found = part.exec(text);
    if (found === null) throw new DbError(StatusCode.EngineExecuteQuery, `string is not a valid identifier: "${text.slice(0, 80)}"`);
    parts.push(found[1] === undefined ? (found[2] ?? "").toLowerCase() : found[1].replaceAll('""', '"'));
    more = found[3] === ".";
  }
  return parts;
}
