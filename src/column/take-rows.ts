/** Rows picked out of vectors, in any order and more than once. */
import { takeDoubles } from "./double-bits.ts";
import type { NumberArray, Vector } from "./vector.ts";

/** The rows `picks` of a vector. */
export function takeRows(vector: Vector, picks: Uint32Array): Vector {
  switch (vector.kind) {
    case "number":
      return { kind: "number", values: takeNumbers(vector.values, picks), validity: takeValidity(vector.validity, picks) };
    case "wide": {
      const values = vector.values instanceof BigInt64Array ? new BigInt64Array(picks.length) : new BigUint64Array(picks.length);
      for (let i = 0; i < picks.length; i++) values[i] = vector.values[picks[i] as number] as bigint;
      return { kind: "wide", values, validity: takeValidity(vector.validity, picks) };
    }
    case "time": {
      const offsets = takeNumbers(vector.offsets, picks) as Float64Array;
      return { kind: "time", base: vector.base, offsets, validity: takeValidity(vector.validity, picks) };
    }
    case "dictionary":
      return { kind: "dictionary", codes: takeNumbers(vector.codes, picks) as Uint32Array, dictionary: vector.dictionary };
    case "coded":
      return { kind: "coded", codes: takeNumbers(vector.codes, picks) as Uint32Array, entries: vector.entries };
    case "bytes":
      return takeBytes(vector.offsets, vector.bytes, takeValidity(vector.validity, picks), picks);
  }
}

function takeNumbers(values: NumberArray, picks: Uint32Array): NumberArray {
  if (values instanceof Float64Array) {
    const doubles = new Float64Array(picks.length);
    takeDoubles(values, picks, picks.length, doubles);
    return doubles;
  }
  const taken = new (values.constructor as new (length: number) => NumberArray)(picks.length);
  for (let i = 0; i < picks.length; i++) taken[i] = values[picks[i] as number] as number;
  return taken;
}

function takeValidity(validity: Uint8Array | undefined, picks: Uint32Array): Uint8Array | undefined {
  if (validity === undefined) return undefined;
  const taken = new Uint8Array(picks.length);
  for (let i = 0; i < picks.length; i++) taken[i] = validity[picks[i] as number] as number;
  return taken;
}

function takeBytes(offsets: Uint32Array, bytes: Uint8Array, validity: Uint8Array | undefined, picks: Uint32Array): Vector {
  const taken = new Uint32Array(picks.length + 1);
  let length = 0;
  for (let i = 0; i < picks.length; i++) {
    const row = picks[i] as number;
    length += (offsets[row + 1] as number) - (offsets[row] as number);
    taken[i + 1] = length;
  }
  const text = new Uint8Array(length);
  for (let i = 0; i < picks.length; i++) {
    const row = picks[i] as number;
    text.set(bytes.subarray(offsets[row], offsets[row + 1]), taken[i]);
  }
  return { kind: "bytes", offsets: taken, bytes: text, validity };
}
