/** Values as people read them: exact, and without characters that a terminal would act on. */
import type { DataType } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Vector } from "../../column/vector.ts";
import { toText } from "../../value/value-text.ts";

/** What stands for NULL in tables; a text of that word is in quotes there. */
export const NULL_TEXT = "NULL";

/** Types whose values stand at the right of their column. */
export function isNumeric(type: DataType): boolean {
  return type.kind === "int" || type.kind === "float" || type.kind === "decimal";
}

/** The text of row `row`; undefined: NULL. */
export function cellText(vector: Vector | undefined, type: DataType, row: number): string | undefined {
  const value = vector === undefined ? undefined : scalarAt(vector, type, row);
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array && type.kind === "binary") return `0x${value.toHex()}`;
  return toText(value, type);
}

/** A cell of a table: NULL apart from any text, on one line, control characters as escapes. */
export function shownCell(text: string | undefined): string {
  if (text === undefined) return NULL_TEXT;
  return text === NULL_TEXT ? `"${NULL_TEXT}"` : shownLine(text);
}

/** A text on one line. C1 controls too: some terminals act on them. */
export function shownLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- it is about those
  return /[\u0000-\u001f\u007f-\u009f]/.test(text) ? text.replace(/[\u0000-\u001f\u007f-\u009f]/g, escapeOf) : text;
}

function escapeOf(character: string): string {
  switch (character) {
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
    default:
      return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  }
}
