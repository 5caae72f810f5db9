import { DbError } from "../../../base/error.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { readParquet } from "./file-contents.ts";

/**
 * The largest sequence of a row in a data file, as its footer says; undefined when the file cannot be read as one.
 *
 * @throws what is no failure of the world
 */
export async function fileSequence(name: string, store: FileStore): Promise<number | undefined> {
  try {
    const reader = await store.open(name);
    try {
      return sequenceOf((await readParquet(name, reader)).keyValues.get("varve.sequence"));
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof DbError) return undefined;
    throw error;
  }
}

function sequenceOf(text: string | undefined): number | undefined {
  const sequence = Number(text ?? Number.NaN);
  return Number.isSafeInteger(sequence) && sequence > 0 ? sequence : undefined;
}
