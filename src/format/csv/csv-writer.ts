/** Fields and records as CSV text (FORMAT.md). */

/** Makes the text of a field; undefined is NULL. */
export type FieldWriter = (text: string | undefined) => string;

/** A writer of fields. @param delimiter one character */
export function fieldWriter(delimiter: string): FieldWriter {
  const special = new RegExp(`["\\r\\n${delimiter.replace(/[\\\]^-]/g, "\\$&")}]`);
  return (text) => {
    if (text === undefined) return "";
    if (text === "") return '""';
    return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
}
