/** Columns of rows in plans and between machines. */
import type { TextTable } from "../../column/text-table.ts";
import { type DataType, formOf } from "../../column/data-type.ts";
import type { NumberArray, Vector } from "../../column/vector.ts";
import { bigint, type Cases, kinds, list, optional, record, type Shape, whole } from "./shape.ts";
import type { PlainArray } from "./tags.ts";

type AnyArray = PlainArray | Uint8Array;

/** Typed arrays of some types. */
function arrayOf<T extends AnyArray>(...types: readonly (abstract new (...args: never) => T)[]): Shape<T> {
  return {
    write: (value, to) => to.plain(value),
    read: (from) => {
      const value = from.plain();
      const isOne = (each: (typeof types)[number]): boolean => value instanceof each;
      return types.some(isOne) ? (value as T) : from.fail("an array of another type is wanted"); // It is one of them.
    },
  };
}

const validity = optional(arrayOf<Uint8Array>(Uint8Array));
const numbers = arrayOf<NumberArray>(Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array);

/** Texts of a dictionary; nothing is NULL. */
export const dictionaryTexts: Shape<readonly (string | undefined)[]> = list<string | undefined>({
  write: (value, to) => to.plain(value),
  read: (from) => {
    const value = from.scalar(from.tag());
    return value === undefined || typeof value === "string" ? value : from.fail("a text of a dictionary is wanted");
  },
});

/** Positions and codes. */
export const places: Shape<Uint32Array> = arrayOf<Uint32Array>(Uint32Array);

/** Entries of text by code. */
export const textTable: Shape<TextTable> = record<TextTable>({ size: whole(1), bytes: arrayOf<Uint8Array>(Uint8Array), starts: places });

/** The fields of every kind of column but those of texts that repeat. */
export const PLAIN_VECTORS: Cases<Exclude<Vector, { kind: "dictionary" | "coded" }>> = {
  number: { values: numbers, validity },
  wide: { values: arrayOf<BigInt64Array | BigUint64Array>(BigInt64Array, BigUint64Array), validity },
  time: { base: bigint, offsets: arrayOf<Float64Array>(Float64Array), validity },
  bytes: { offsets: places, bytes: arrayOf<Uint8Array>(Uint8Array), validity },
};

/** Columns. */
export const vector: Shape<Vector> = kinds<Vector>({
  ...PLAIN_VECTORS,
  dictionary: { codes: places, dictionary: dictionaryTexts },
  coded: { codes: places, entries: textTable },
});

/** A column; of one of texts that repeat, how many these are, or none where they came before. */
type VectorToCheck =
  | Exclude<Vector, { kind: "dictionary" | "coded" }>
  | { readonly kind: "coded"; readonly codes: Uint32Array; readonly entries: TextTable | undefined }
  | { readonly kind: "dictionary"; readonly codes: Uint32Array; readonly dictionary: { readonly length: number } };

/**
 * What is wrong with a column of so many rows that came from elsewhere; undefined: nothing.
 *
 * @param areOfScan tags of every type may be texts, as scans give them; sums of integers numbers, whatever the type of the whole sum; and
 *   a column without a value has no form
 */
export function wrongWithVector(given: VectorToCheck, rowCount: number, type: DataType, areOfScan = false): string | undefined {
  const form = formOf(type);
  if (areOfScan && areNull(given, rowCount)) return undefined;
  const isSum = areOfScan && type.kind === "decimal";
  switch (given.kind) {
    case "number":
      return (form === "number" || isSum) && given.values.length >= rowCount ? wrongValidity(given, rowCount) : OTHER;
    case "wide":
      return (form !== "bytes" || isSum) && given.values.length >= rowCount ? wrongValidity(given, rowCount) : OTHER;
    case "time":
      return form === "times" && given.offsets.length >= rowCount ? wrongValidity(given, rowCount) : OTHER;
    case "dictionary":
      return (form === "bytes" || areOfScan) &&
        given.codes.length >= rowCount &&
        given.codes.every((code) => code < given.dictionary.length)
        ? undefined
        : OTHER;
    case "coded":
      return form === "bytes" && given.codes.length >= rowCount && areEntries(given.entries, given.codes) ? undefined : OTHER;
    case "bytes": {
      const { offsets, bytes } = given;
      if (form !== "bytes" || offsets.length <= rowCount) return OTHER;
      let last = 0;
      for (const at of offsets.subarray(0, rowCount + 1)) {
        if (at < last || at > bytes.length) return OTHER;
        last = at;
      }
      return wrongValidity(given, rowCount);
    }
  }
}

function areNull(given: VectorToCheck, rowCount: number): boolean {
  if (given.kind !== "number" || given.validity === undefined || given.values.length < rowCount) return false;
  return given.validity.length >= rowCount && !given.validity.subarray(0, rowCount).includes(1);
}

function areEntries(entries: TextTable | undefined, codes: Uint32Array): boolean {
  if (entries === undefined) return true;
  const { size, starts, bytes } = entries;
  if (starts.length <= size || starts[1] !== 0) return false;
  let last = 0;
  for (const at of starts.subarray(0, size + 1)) {
    if (at < last || at > bytes.length) return false;
    last = at;
  }
  return codes.every((code) => code < size);
}

const OTHER = "a column is not of its type, or lacks rows";

function wrongValidity({ validity: known }: { readonly validity: Uint8Array | undefined }, rowCount: number): string | undefined {
  return known === undefined || known.length >= rowCount ? undefined : OTHER;
}
