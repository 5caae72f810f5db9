/**
 * Moves a column whose chunks each hold one text: a code a row instead of the text, since a flush would only look the same bytes up again.
 *
 *   chunk 0: "shop"  chunk 1: "shop"  chunk 2: "cart"   ─►   texts: shop, cart   codes: 0 0 0 … 1 1 1
 *
 * 155 B of resource attributes and five more such columns were most of what a flush of log records wrote to memory.
 */
import type { CodedBytes } from "../../format/parquet/types.ts";
import { type ChunkRows, DROPPED, type SortedRows } from "./sort-rows.ts";

/** Fewest rows a text: with fewer a dictionary may not be worth it, and whoever has all texts can tell. */
const ROWS_PER_TEXT_MIN = 16;
/** Most bytes of the texts. Reason: they become one dictionary page. */
const TEXT_BYTES_MAX: number = 1 << 20;

/** The column of all sorted rows; undefined unless every chunk holds it once, as the type that it has now, and few texts are different. */
export function scatterCoded(sorted: SortedRows, columnId: number): CodedBytes | undefined {
  const { rowCount, chunks } = sorted;
  const codeOf = new Map<string, number>();
  const texts: Uint8Array[] = [];
  const chunkCodes: number[] = [];
  let byteLength = 0;
  for (const { chunk } of chunks) {
    const data = chunk.columns.find((column) => column.columnId === columnId)?.data;
    if (data?.kind !== "repeated") return undefined;
    const key = Buffer.from(data.bytes.buffer, data.bytes.byteOffset, data.bytes.length).toString("latin1");
    let code = codeOf.get(key);
    if (code === undefined) {
      code = texts.push(data.bytes) - 1;
      codeOf.set(key, code);
      byteLength += data.bytes.length;
    }
    if (texts.length * ROWS_PER_TEXT_MIN > rowCount || byteLength > TEXT_BYTES_MAX) return undefined;
    chunkCodes.push(code);
  }
  if (texts.length === 0) return undefined;
  const codes = new Uint32Array(rowCount);
  if (texts.length > 1) for (let c = 0; c < chunks.length; c++) placeCode(chunks[c]!, chunkCodes[c]!, codes);
  return { kind: "coded", codes, texts, validity: undefined };
}

/** Rows that share a place are placed in their order, so the last counts, as it does for texts. */
function placeCode({ positions }: ChunkRows, code: number, codes: Uint32Array): void {
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]!;
    if (position !== DROPPED) codes[position] = code;
  }
}
