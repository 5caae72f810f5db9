/** The numbers of the plan format (`FORMAT.md`), and its limits. */

/** What the bytes begin with. */
export const MAGIC = 0x5056; // 'V' 'P'
/** The version that is written, and the highest that is read. */
export const PLAN_VERSION = 2;

/** Most bytes of a plan. Reason: a statement is at most 16 MiB, and constants take up to four times their text. Error: Unsupported. */
export const PLAN_BYTES_MAX: number = 64 * 1024 * 1024;
/** Most values in a plan, those behind references counted as often as they are named. Reason: each may take 100 B. Error: Unsupported. */
export const PLAN_VALUES_MAX: number = 8 * 1024 * 1024;
/** Deepest nesting of operators, expressions, types and lists. Reason: whoever reads recurses. Error: Unsupported. */
export const PLAN_DEPTH_MAX = 1500;

/** What stands before a value. */
export const TAG = {
  none: 0,
  false: 1,
  true: 2,
  int: 3,
  double: 4,
  bigint: 5,
  text: 6,
  /** A text with half a surrogate pair, which UTF-8 has no bytes for. */
  units: 7,
  bytes: 8,
  array: 9,
  list: 10,
  record: 11,
  word: 12,
  reference: 13,
  function: 14,
  aggregate: 15,
  table: 16,
} as const;

/** A typed array that is no `Uint8Array`. */
export type PlainArray =
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** Makes a typed array of all of a buffer. */
type ArrayType = { readonly BYTES_PER_ELEMENT: number } & (new (buffer: ArrayBuffer) => PlainArray);

/** The typed arrays, by the number that stands before their elements. Bytes are `TAG.bytes`. */
export const ARRAYS: ReadonlyMap<number, ArrayType> = new Map<number, ArrayType>([
  [1, Int8Array],
  [2, Int16Array],
  [3, Uint16Array],
  [4, Int32Array],
  [5, Uint32Array],
  [6, Float32Array],
  [7, Float64Array],
  [8, BigInt64Array],
  [9, BigUint64Array],
]);

/** Plain data. */
export type PlainValue =
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PlainArray
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };
