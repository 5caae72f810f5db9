import type { FileStore } from "../../file-store/file-store.ts";
import { fromParquet } from "./file-contents.ts";

/**
 * The largest sequence of a row in a data file, as its footer says; undefined when the file cannot be read as one.
 *
 * @throws what is no failure of the world
 */
export async function fileSequence(name: string, store: FileStore): Promise<number | undefined> {
  const sequence = Number((await fromParquet(name, store, ({ keyValues }) => keyValues.get("varve.sequence"))) ?? Number.NaN);
  return Number.isSafeInteger(sequence) && sequence > 0 ? sequence : undefined;
}
