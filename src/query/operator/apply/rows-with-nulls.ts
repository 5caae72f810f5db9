/**
 * Rows of several values, some NULL, and whether a row may be equal to one of them: is, or would be if NULLs were some values. What
 * `(a, b) IN (SELECT x, y …)` hangs on where it is not true.
 */

/** Keys of the values of a row; undefined: NULL. */
export type RowKeys = readonly (string | undefined)[];

const maskOf = (keys: RowKeys): number => keys.reduce((mask, key, i) => (key === undefined ? mask | (1 << i) : mask), 0);

/** The keys outside of a mask as one. */
const keyWithout = (keys: RowKeys, mask: number): string =>
  keys.map((key, i) => ((mask >>> i) & 1 ? "" : `${(key ?? "").length}:${key}`)).join();

/** See the file header. Of up to 31 values. Looks are made by the values that neither row has as NULL, found as such looks come. */
export class RowsWithNulls {
  private readonly byMask: Map<number, RowKeys[]> = new Map();
  private readonly looks: Map<string, Set<string>> = new Map();

  add(keys: RowKeys): void {
    const mask = maskOf(keys);
    const known = this.byMask.get(mask);
    if (known === undefined) this.byMask.set(mask, [keys]);
    else known.push(keys);
  }

  mayEqual(keys: RowKeys): boolean {
    const own = maskOf(keys);
    for (const [mask, rows] of this.byMask) if (this.look(mask, own | mask, rows).has(keyWithout(keys, own | mask))) return true;
    return false;
  }

  private look(mask: number, without: number, rows: readonly RowKeys[]): ReadonlySet<string> {
    const name = `${mask} ${without}`;
    const known = this.looks.get(name);
    if (known !== undefined) return known;
    const made = new Set(rows.map((row) => keyWithout(row, without)));
    this.looks.set(name, made);
    return made;
  }
}
