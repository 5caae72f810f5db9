/** Rows `[from, to)` of vectors, without copying. */
import type { Batch } from "./batch.ts";
import type { Validity, Vector } from "./vector.ts";

const part = (validity: Validity, from: number, to: number): Validity => validity?.subarray(from, to);

/** Rows `[from, to)` of a vector. */
export function slice(vector: Vector, from: number, to: number): Vector {
  switch (vector.kind) {
    case "number":
      return { kind: "number", values: vector.values.subarray(from, to), validity: part(vector.validity, from, to) };
    case "wide":
      return { kind: "wide", values: vector.values.subarray(from, to), validity: part(vector.validity, from, to) };
    case "time":
      return { ...vector, offsets: vector.offsets.subarray(from, to), validity: part(vector.validity, from, to) };
    case "dictionary":
    case "coded":
      return { ...vector, codes: vector.codes.subarray(from, to) };
    case "bytes":
      return { ...vector, offsets: vector.offsets.subarray(from, to + 1), validity: part(vector.validity, from, to) };
  }
}

/** Rows `[from, to)` of a batch. */
export function sliceBatch(batch: Batch, from: number, to: number): Batch {
  if (from === 0 && to === batch.rowCount) return batch;
  return { rowCount: to - from, vectors: from === 0 ? batch.vectors : batch.vectors.map((vector) => slice(vector, from, to)) };
}
