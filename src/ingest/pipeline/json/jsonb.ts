/**
 * Values as JSONB, the bytes of columns that hold objects and arrays without being declared JSON. Big-endian words:
 *
 *   container: header (0x80 array | 0x40 object | 0x20 scalar) << 24 | count, one entry word an item (objects: keys, then values), payloads
 *   entry:     kind << 28 | payload bytes    kinds: 0 null, 1 text, 2 number, 3 false, 4 true, 5 container
 *   number:    0x00 zero | 0x40 int, 0x50 unsigned, 0x60 double, with 1, 2, 4 or 8 bytes behind it
 *
 * Source: https://github.com/databendlabs/jsonb
 */
import { failure } from "../failure.ts";
import { plainText } from "./json-text.ts";
import { VALUE_DEPTH_MAX } from "../limits.ts";
import { kindOf, type PipelineObject, type PipelineValue, WholeFloat } from "../../common/value.ts";

const encoder = new TextEncoder();
const EMPTY = new Uint8Array(0);

/** The JSONB of a value. @throws DbError InvalidArguments when it is nested too deeply */
export function jsonb(value: PipelineValue): Uint8Array {
  const kind = kindOf(value);
  if (kind === "array" || kind === "object") return container(value, 0);
  const [entryKind, payload] = entryOf(value, 0);
  return joined(0x20000000, [word(entryKind, payload)], [payload]);
}

function container(value: PipelineValue, depth: number): Uint8Array {
  if (depth >= VALUE_DEPTH_MAX) throw failure(`cannot store a value: it is nested deeper than ${VALUE_DEPTH_MAX} levels`);
  const words: number[] = [];
  const payloads: Uint8Array[] = [];
  const put = (kind: number, payload: Uint8Array): void => {
    words.push(word(kind, payload));
    payloads.push(payload);
  };
  if (Array.isArray(value)) {
    for (const item of value) put(...entryOf(item, depth + 1));
    return joined((0x80000000 | value.length) >>> 0, words, payloads);
  }
  const object = value as PipelineObject; // by its kind
  const keys = Object.keys(object).sort();
  for (const key of keys) put(1, encoder.encode(key));
  for (const key of keys) put(...entryOf(object[key], depth + 1));
  return joined(0x40000000 | keys.length, words, payloads);
}

function word(kind: number, payload: Uint8Array): number {
  return ((kind << 28) | payload.length) >>> 0;
}

function joined(header: number, words: readonly number[], payloads: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(4 + 4 * words.length + payloads.reduce((sum, { length }) => sum + length, 0));
  const view = new DataView(out.buffer);
  view.setUint32(0, header);
  for (const [i, entry] of words.entries()) view.setUint32(4 + 4 * i, entry);
  let at = 4 + 4 * words.length;
  for (const payload of payloads) {
    out.set(payload, at);
    at += payload.length;
  }
  return out;
}

function entryOf(value: PipelineValue, depth: number): readonly [kind: number, payload: Uint8Array] {
  switch (kindOf(value)) {
    case "null":
      return [0, EMPTY];
    case "boolean":
      return [value === true ? 4 : 3, EMPTY];
    case "string":
    case "time":
      return [1, encoder.encode(plainText(value))];
    case "int":
      return [2, integer(BigInt(value as number | bigint))]; // by its kind
    case "float":
      return [2, double(value instanceof WholeFloat ? value.value : Number(value))];
    default:
      return [5, container(value, depth)];
  }
}

function integer(value: bigint): Uint8Array {
  if (value === 0n) return Uint8Array.of(0);
  const isUnsigned = value >= 2n ** 63n;
  const size = isUnsigned ? 8 : ([1, 2, 4].find((bytes) => BigInt.asIntN(bytes * 8, value) === value) ?? 8);
  const out = new Uint8Array(1 + size);
  out[0] = isUnsigned ? 0x50 : 0x40;
  for (let i = size; i > 0; i--) out[i] = Number((value >> BigInt(8 * (size - i))) & 0xffn);
  return out;
}

function double(value: number): Uint8Array {
  const out = new Uint8Array(9);
  out[0] = 0x60;
  new DataView(out.buffer).setFloat64(1, value);
  return out;
}
