/** Vectors on memory of their own, whole: for rows that are kept past the life of their batch. */
import type { Validity, Vector } from "../../../column/vector.ts";

const part = (validity: Validity, rowCount: number): Validity => validity?.slice(0, rowCount);

/** Rows `[0, rowCount)` of a vector, copied. Dictionaries and entries of codes are shared. */
export function copied(vector: Vector, rowCount: number): Vector {
  switch (vector.kind) {
    case "number":
      return { kind: "number", values: vector.values.slice(0, rowCount), validity: part(vector.validity, rowCount) };
    case "wide":
      return { kind: "wide", values: vector.values.slice(0, rowCount), validity: part(vector.validity, rowCount) };
    case "time":
      return { ...vector, offsets: vector.offsets.slice(0, rowCount), validity: part(vector.validity, rowCount) };
    case "dictionary":
    case "coded":
      return { ...vector, codes: vector.codes.slice(0, rowCount) };
    case "bytes": {
      const start = vector.offsets[0] ?? 0;
      const offsets = vector.offsets.slice(0, rowCount + 1);
      if (start !== 0) for (let row = 0; row <= rowCount; row++) offsets[row] = offsets[row]! - start;
      const bytes = vector.bytes.slice(start, vector.offsets[rowCount] ?? 0);
      return { kind: "bytes", offsets, bytes, validity: part(vector.validity, rowCount) };
    }
  }
}

/** A row of NULL of the kind of a vector with rows, so that both are joined without a look at each value. */
export function nullLike(vector: Vector): Vector {
  const validity = new Uint8Array(1);
  switch (vector.kind) {
    case "dictionary":
    case "coded":
      return { ...vector, codes: new Uint32Array(1) };
    case "bytes":
      return { kind: "bytes", offsets: new Uint32Array(2), bytes: new Uint8Array(0), validity };
    case "time":
      return { ...vector, offsets: new Float64Array(1), validity };
    case "number":
      return { kind: "number", values: vector.values.slice(0, 1), validity };
    case "wide":
      return { kind: "wide", values: vector.values.slice(0, 1), validity };
  }
}
