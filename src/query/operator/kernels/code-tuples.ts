/**
 * Numbers tuples of codes densely: the first code is its own number, each further one makes a pair with the number so far. A negative code
 * is none, and a tuple with one has no number.
 */
import { PairTable } from "./pair-table.ts";

/** See the file header. */
export class CodeTuples {
  /** The tables of the second code and those after it. */
  private readonly tables: readonly PairTable[];

  /** @param length codes of a tuple */
  constructor(length: number) {
    this.tables = Array.from({ length: Math.max(0, length - 1) }, () => new PairTable());
  }

  /** Numbers given so far to tuples of at least two codes. */
  get size(): number {
    return this.tables.at(-1)?.size ?? 0;
  }

  /** The number of `id`, of the codes before, with the code at `position`; -1 for a pair that has none and is not to have one. */
  idOf(id: number, code: number, position: number, isNew: boolean): number {
    if (position === 0 || id < 0 || code < 0) return id < 0 ? id : code;
    const table = this.tables[position - 1]!;
    return isNew ? table.idOf(id, code) : table.find(id, code);
  }

  /** The codes at `position` of the tuples with these numbers. */
  codesAt(position: number, ids: Uint32Array): Uint32Array {
    const codes = ids.slice();
    for (let at = this.tables.length; at > 0; at--) {
      const { firsts, seconds } = this.tables[at - 1]!;
      const from = at === position ? seconds : firsts;
      for (let i = 0; i < codes.length; i++) codes[i] = from[codes[i]!]!;
      if (at === position) break;
    }
    return codes;
  }
}
