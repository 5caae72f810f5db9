/** Some rows of a vector, for the rare request whose rows go apart. */
import { assert } from "../../../base/assert.ts";
import type { Validity, Vector } from "../../../column/vector.ts";

/** The rows `rows` of a vector in a vector of its own; the vector itself when `rows` is absent. */
export function pick(vector: Vector, rows: Uint32Array | undefined): Vector {
  if (rows === undefined) return vector;
  switch (vector.kind) {
    case "number":
      return { kind: "number", values: Float64Array.from(rows, (row) => vector.values[row] as number), validity: valid(vector, rows) };
    case "wide": {
      const values = vector.values instanceof BigInt64Array ? new BigInt64Array(rows.length) : new BigUint64Array(rows.length);
      for (let i = 0; i < rows.length; i++) values[i] = vector.values[rows[i] as number] as bigint;
      return { kind: "wide", values, validity: valid(vector, rows) };
    }
    case "time":
      return { ...vector, offsets: Float64Array.from(rows, (row) => vector.offsets[row] as number), validity: valid(vector, rows) };
    case "bytes": {
      const { offsets, bytes } = vector;
      const parts = Array.from(rows, (row) => bytes.subarray(offsets[row], offsets[row + 1]));
      const picked = new Uint32Array(rows.length + 1);
      let length = 0;
      for (let i = 0; i < parts.length; i++) {
        length += parts[i]?.length ?? 0;
        picked[i + 1] = length;
      }
      return { kind: "bytes", offsets: picked, bytes: Buffer.concat(parts, length), validity: valid(vector, rows) };
    }
    case "dictionary":
    case "coded":
      assert(false, "a decoder makes no dictionary");
  }
}

function valid({ validity }: { readonly validity: Validity }, rows: Uint32Array): Validity {
  return validity === undefined ? undefined : Uint8Array.from(rows, (row) => validity[row] as number);
}
