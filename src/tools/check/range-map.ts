/** Which bytes of a file somebody uses. */

/** Ranges of bytes, in any order. */
export class RangeMap {
  private readonly ranges: { readonly from: number; readonly to: number }[] = [];

  add(from: number, length: number): void {
    if (length > 0) this.ranges.push({ from, to: from + length });
  }

  /** The ranges of `[0, length)` that nothing covers, ascending. */
  gaps(length: number): { readonly from: number; readonly to: number }[] {
    const found: { readonly from: number; readonly to: number }[] = [];
    let at = 0;
    for (const { from, to } of this.ranges.toSorted((a, b) => a.from - b.from)) {
      if (from > at) found.push({ from: at, to: from });
      at = Math.max(at, to);
    }
    if (at < length) found.push({ from: at, to: length });
    return found;
  }
}
