/** Which rows of a vector are not NULL. */
import type { Validity, Vector } from "../../../column/vector.ts";

/** One byte a row, 1 where there is a value; undefined when no row is NULL. */
export function presence(vector: Vector, rowCount: number): Validity {
  if (vector.kind !== "dictionary") return vector.validity;
  const { codes, dictionary } = vector;
  const present = new Uint8Array(rowCount);
  for (let i = 0; i < rowCount; i++) present[i] = dictionary[codes[i] ?? 0] === undefined ? 0 : 1;
  return present;
}
