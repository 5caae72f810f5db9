import { DbError } from "../../base/error.ts";
import { openParquet } from "../../format/parquet/file.ts";
import type { FileStore } from "../file-store/file-store.ts";

/** First guess of how many bytes hold the footer. */
const TAIL_BYTES = 64 * 1024;

/**
 * The largest sequence of a row in a data file, as its footer says; undefined when the file cannot be read as one.
 *
 * @throws what is no failure of the world
 */
export async function fileSequence(name: string, store: FileStore): Promise<number | undefined> {
  try {
    const reader = await store.open(name);
    try {
      for (let tailBytes = Math.min(TAIL_BYTES, reader.byteLength); ; ) {
        const tail = await reader.read(reader.byteLength - tailBytes, tailBytes);
        const opened = openParquet(name, reader.byteLength, tail);
        if (opened.kind === "file") return sequenceOf(opened.file.keyValues.get("varve.sequence"));
        tailBytes = opened.byteLength;
      }
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
