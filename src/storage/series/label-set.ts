/**
 * The labels of a series as one text, for regions that many logical tables share: each has labels of its own, so that a tag column for every
 * label would be NULL almost everywhere. 100,000 series with 10 of 200 labels each take 80 MB of codes as columns and 10 MB as texts.
 *
 *   text = label, label, …      label = <column id in base 36> ":" <length of the value in base 36> ":" <value>
 *
 * Labels come by ascending column id, so equal sets have equal texts. The length counts UTF-16 units: values may hold anything.
 */
import { assert } from "../../base/assert.ts";

/** Id of the tag column that holds label sets, in the schema and the files of a shared region. Beyond the ids of a user's columns. */
export const LABELS_COLUMN_ID = 0x7fff_ff01;

/** Id of the tag column before it: which logical table the series is of. */
export const TABLE_ID_COLUMN_ID = 0x7fff_ff00;

/**
 * The text of a label set; undefined, which is NULL, for the empty one.
 *
 * @param columnIds ascending, distinct
 * @param values one an id, none empty
 */
export function encodeLabels(columnIds: readonly number[], values: readonly string[]): string | undefined {
  let text = "";
  for (let i = 0; i < columnIds.length; i++) {
    const value = values[i] as string;
    text += `${(columnIds[i] as number).toString(36)}:${value.length.toString(36)}:${value}`;
  }
  return text === "" ? undefined : text;
}

/** Calls `each` with the labels of a text that `encodeLabels` made, in its order. */
export function decodeLabels(text: string | undefined, each: (columnId: number, value: string) => void): void {
  if (text === undefined) return;
  for (let at = 0; at < text.length; ) {
    const idEnd = text.indexOf(":", at);
    const lengthEnd = text.indexOf(":", idEnd + 1);
    const columnId = Number.parseInt(text.slice(at, idEnd), 36);
    const length = Number.parseInt(text.slice(idEnd + 1, lengthEnd), 36);
    assert(idEnd > at && lengthEnd > idEnd + 1 && length > 0, `labels as they were encoded; got ${text.slice(at, at + 80)}`);
    at = lengthEnd + 1 + length;
    assert(at <= text.length, `a label of ${length} characters within its text; got ${text.length - lengthEnd - 1}`);
    each(columnId, text.slice(lengthEnd + 1, at));
  }
}
