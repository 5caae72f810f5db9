/**
 * Numbers rows by the values of some columns, densely and in the order they come: equal rows, equal numbers. What groups, DISTINCT, joins
 * and set operations tell rows by.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Reserve } from "../../function/aggregate/accumulator.ts";
import { CodeTuples } from "../kernels/code-tuples.ts";
import { NO_CODE, ValueCodes } from "./value-codes.ts";

/** Bytes that a distinct row costs beside its values, about. */
export const ROW_BYTES = 24;

/** What has no number: a row that was never added or, where NULL equals nothing, one with a NULL. */
export const NO_ROW: number = NO_CODE;

/** How rows are told apart. */
export interface KeyTableOptions {
  /** Whether NULL equals NULL, as in groups and set operations, or nothing, as in joins. */
  readonly nullsMatch: boolean;
  /** Whether a number that each row brings along, its prefix, stands before the columns. */
  readonly hasPrefix?: boolean;
}

/** See the file header. Arrays of numbers that it gives are valid until it is asked again. */
export class KeyTable {
  private readonly columns: readonly ValueCodes[];
  /** Of the prefix, where there is one, and the codes of the columns. */
  private readonly tuples: CodeTuples;
  private readonly prefixes: number;
  private readonly reserve: Reserve;
  private count = 0;
  private ids = new Int32Array(0);
  private codes = new Int32Array(0);

  constructor(types: readonly DataType[], { nullsMatch, hasPrefix = false }: KeyTableOptions, reserve: Reserve) {
    this.reserve = reserve;
    this.prefixes = hasPrefix ? 1 : 0;
    this.columns = types.map((type) => new ValueCodes(type, nullsMatch, reserve));
    this.tuples = new CodeTuples(this.prefixes + types.length);
  }

  /** Numbers given so far. */
  get size(): number {
    return this.count;
  }

  /** Numbers of rows, new ones for new rows. `vectors` are the columns; `prefixes` are read and not kept. */
  add(vectors: readonly Vector[], rowCount: number, prefixes?: Int32Array): Int32Array {
    const ids = this.numbered(vectors, rowCount, true, prefixes);
    const { length } = this.columns;
    const size = this.prefixes + length > 1 ? this.tuples.size : length === 1 ? (this.columns[0]?.size ?? 0) : Math.min(1, rowCount);
    this.reserve(Math.max(0, size - this.count) * ROW_BYTES);
    this.count = Math.max(this.count, size);
    return ids;
  }

  /** Numbers of rows that were added before; `NO_ROW` for others. */
  find(vectors: readonly Vector[], rowCount: number, prefixes?: Int32Array): Int32Array {
    return this.numbered(vectors, rowCount, false, prefixes);
  }

  /** Adds rows; gives the positions of those that are the first of their number, ascending. */
  firsts(vectors: readonly Vector[], rowCount: number): Uint32Array {
    let next = this.count;
    const ids = this.add(vectors, rowCount);
    return positions(ids, rowCount, (id) => id === next && ++next > 0);
  }

  /** The positions of rows that were not added, ascending. */
  strangers(vectors: readonly Vector[], rowCount: number): Uint32Array {
    return positions(this.find(vectors, rowCount), rowCount, (id) => id === NO_ROW);
  }

  /** The values of a column in the rows with these numbers. */
  vector(column: number, ids: Uint32Array): Vector {
    const values = this.columns[column];
    return values?.vector(this.tuples.codesAt(this.prefixes + column, ids)) ?? { kind: "dictionary", codes: ids, dictionary: [] };
  }

  /** The prefixes of the rows with these numbers. */
  prefixesOf(ids: Uint32Array): Uint32Array {
    return this.tuples.codesAt(0, ids);
  }

  private numbered(vectors: readonly Vector[], rowCount: number, isNew: boolean, prefixes: Int32Array | undefined): Int32Array {
    if (this.ids.length < rowCount) {
      this.ids = new Int32Array(rowCount);
      this.codes = new Int32Array(rowCount);
    }
    const ids = this.ids.subarray(0, rowCount);
    if (prefixes !== undefined) ids.set(prefixes.subarray(0, rowCount));
    else if (this.columns.length === 0) ids.fill(isNew || this.count > 0 ? 0 : NO_ROW);
    for (const [c, column] of this.columns.entries()) {
      const vector = vectors[c];
      if (vector === undefined) continue;
      const position = this.prefixes + c;
      column.codesOf(vector, rowCount, isNew, position === 0 ? ids : this.codes);
      if (position > 0) this.tuples.fold(ids, this.codes, position, isNew, rowCount);
    }
    return ids;
  }
}

/** Positions of the rows with numbers that are wanted; each is asked for once, in order. */
function positions(ids: Int32Array, rowCount: number, isWanted: (id: number) => boolean): Uint32Array {
  const selection = new Uint32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (isWanted(ids[row] ?? NO_ROW)) selection[count++] = row;
  return selection.subarray(0, count);
}
