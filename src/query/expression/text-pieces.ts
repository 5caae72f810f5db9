/** Batches in pieces with few enough bytes of text that each is done in some milliseconds. */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { BytesVector, NumberArray, Validity, Vector } from "../../column/vector.ts";
import { columnsOf, type TypedExpression } from "./expression.ts";

/** Most bytes of texts of one column in a piece of more than one row: some milliseconds of the slower functions. */
const PIECE_BYTES_MAX: number = 4 * 1024 * 1024;

/** The columns of texts that an expression reads. */
export function textColumnsOf(expression: TypedExpression, headers: readonly ColumnHeader[]): readonly number[] {
  return [...columnsOf(expression)].filter((index) => headers[index]?.type.kind === "string");
}

/** Where the piece that begins at row `from` ends; the end of the batch where none of the columns has many bytes. */
export function endOfPiece(batch: Batch, from: number, texts: readonly number[]): number {
  let end = batch.rowCount;
  for (const index of texts) {
    const vector = batch.vectors[index];
    if (vector?.kind !== "bytes") continue;
    const { offsets } = vector;
    const limit = (offsets[from] as number) + PIECE_BYTES_MAX;
    if ((offsets[end] as number) > limit) end = Math.max(from + 1, lastWithin(offsets, from, end, limit));
  }
  return end;
}

/** The last position in `[from, to]` whose offset is not above a limit. */
function lastWithin(offsets: Uint32Array, from: number, to: number, limit: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((offsets[middle] as number) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Moves row positions from a piece to its batch. */
export function moveBy(selection: Uint32Array, count: number, from: number): void {
  if (from === 0) return;
  for (let i = 0; i < count; i++) selection[i] = (selection[i] as number) + from;
}

/** Vectors of pieces as one; `ends[i]` is the row at which piece i ends. Undefined where they are not all numbers or all bytes. */
export function joinedPieces(pieces: readonly Vector[], ends: readonly number[]): Vector | undefined {
  const rowCount = ends.at(-1) ?? 0;
  const numbers = pieces.flatMap((piece) => (piece.kind === "number" ? [piece] : []));
  const texts = pieces.flatMap((piece) => (piece.kind === "bytes" ? [piece] : []));
  if (numbers.length === pieces.length) {
    const [first] = numbers;
    const array = (first?.values.constructor ?? Float64Array) as new (length: number) => NumberArray; // all pieces come from one loop
    const values = new array(rowCount);
    for (const [i, piece] of numbers.entries()) {
      const from = ends[i - 1] ?? 0;
      values.set(piece.values.subarray(0, (ends[i] as number) - from), from);
    }
    return { kind: "number", values, validity: joinedValidity(numbers, ends) };
  }
  return texts.length === pieces.length ? joinedTexts(texts, ends) : undefined;
}

function joinedTexts(pieces: readonly BytesVector[], ends: readonly number[]): Vector {
  const offsets = new Uint32Array((ends.at(-1) ?? 0) + 1);
  let length = 0;
  for (const [i, piece] of pieces.entries()) {
    const from = ends[i - 1] ?? 0;
    const to = ends[i] as number;
    for (let row = from; row < to; row++)
      offsets[row + 1] = length + (piece.offsets[row - from + 1] as number) - (piece.offsets[0] as number);
    length = offsets[to] as number;
  }
  const bytes = new Uint8Array(length);
  for (const [i, piece] of pieces.entries()) {
    const from = ends[i - 1] ?? 0;
    const count = (ends[i] as number) - from;
    bytes.set(piece.bytes.subarray(piece.offsets[0], piece.offsets[count]), offsets[from]);
  }
  return { kind: "bytes", offsets, bytes, validity: joinedValidity(pieces, ends) };
}

function joinedValidity(pieces: readonly { readonly validity: Validity }[], ends: readonly number[]): Validity {
  if (pieces.every(({ validity }) => validity === undefined)) return undefined;
  const joined = new Uint8Array(ends.at(-1) ?? 0).fill(1);
  for (const [i, { validity }] of pieces.entries()) {
    const from = ends[i - 1] ?? 0;
    if (validity !== undefined) joined.set(validity.subarray(0, (ends[i] as number) - from), from);
  }
  return joined;
}
