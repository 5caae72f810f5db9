/** Numbers rows by the values of some columns: equal rows, equal numbers. What joins and set operations find partners with. */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Reserve } from "../../function/aggregate/accumulator.ts";
import { PairTable } from "../kernels/pair-table.ts";
import { ValueCodes } from "./key-codes.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Bytes that a distinct row costs beside its values, about. */
const ROW_BYTES = 24;

/** What has no number: a row that was never added or, where NULL equals nothing, one with a NULL. */
export const NO_ROW = -1;

/** Row numbers. */
export class RowCodes {
  private readonly columns: readonly ValueCodes[];
  private readonly tables: readonly PairTable[];
  private readonly types: readonly DataType[];
  private readonly nullsMatch: boolean;
  private readonly reserve: Reserve;
  private count = 0;

  /** @param nullsMatch whether NULL equals NULL, as in set operations, or nothing, as in joins */
  constructor(types: readonly DataType[], nullsMatch: boolean, reserve: Reserve) {
    this.types = types;
    this.nullsMatch = nullsMatch;
    this.reserve = reserve;
    this.columns = types.map((type) => new ValueCodes(type, reserve));
    this.tables = types.slice(1).map(() => new PairTable());
  }

  /** Numbers given so far; they are dense. */
  get size(): number {
    return this.count;
  }

  /** Numbers of rows, new ones for new rows. */
  add(vectors: readonly Vector[], rowCount: number): Int32Array {
    const ids = this.ids(vectors, rowCount, true);
    let largest = this.count - 1;
    for (let row = 0; row < rowCount; row++) if ((ids[row] ?? 0) > largest) largest = ids[row] ?? 0;
    this.reserve((largest + 1 - this.count) * ROW_BYTES);
    this.count = largest + 1;
    return ids;
  }

  /** Numbers of rows that were added before; `NO_ROW` for others. */
  find(vectors: readonly Vector[], rowCount: number): Int32Array {
    return this.ids(vectors, rowCount, false);
  }

  private ids(vectors: readonly Vector[], rowCount: number, isNew: boolean): Int32Array {
    const ids = new Int32Array(rowCount);
    for (const [c, vector] of vectors.entries()) {
      const codes = this.codesOf(c, vector, rowCount, isNew);
      const table = this.tables[c - 1];
      for (let row = 0; row < rowCount; row++) {
        const code = codes[row] ?? 0;
        const id = ids[row] ?? 0;
        if (code === NO_ROW || id === NO_ROW) ids[row] = NO_ROW;
        else if (table === undefined) ids[row] = code;
        else ids[row] = isNew ? table.idOf(id, code) : table.find(id, code);
      }
    }
    return ids;
  }

  /** Codes of one column. Repeating texts are looked up once an entry of their dictionary. */
  private codesOf(column: number, vector: Vector, rowCount: number, isNew: boolean): Int32Array {
    const codes = new Int32Array(rowCount);
    const values = this.columns[column];
    const type = this.types[column];
    if (values === undefined || type === undefined) return codes;
    const codeOf = (value: Parameters<ValueCodes["find"]>[0]): number => {
      if (value === undefined && !this.nullsMatch) return NO_ROW;
      return isNew ? values.codeOf(value) : values.find(value);
    };
    if (vector.kind === "dictionary") {
      const known = new Map<number, number>();
      for (let row = 0; row < rowCount; row++) {
        const entry = vector.codes[row] ?? 0;
        let code = known.get(entry);
        if (code === undefined) {
          code = codeOf(vector.dictionary[entry]);
          known.set(entry, code);
        }
        codes[row] = code;
      }
      return codes;
    }
    for (let row = 0; row < rowCount; row++) codes[row] = codeOf(valueAt(vector, type, row));
    return codes;
  }
}
