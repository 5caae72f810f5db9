/**
 * The order in which a table of the metric engine lists its series where a client asked for none: by the hash of their labels, as the
 * reference server stores them. Kept until series come; only for tables of few series, since rows of many lie elsewhere in their files.
 */

/** Series up to which they are listed by hash: sorting as many takes 3 ms, once. Beyond, they are listed by their tags. */
export const LISTED_BY_HASH_MAX = 4096;

/** See the file header. */
export class SeriesListing {
  private readonly keyOf: (series: number) => bigint;
  private readonly keys: bigint[] = [];
  private order: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  /** Place of each series in `order`. */
  private ranks: Uint32Array = new Uint32Array(0);

  /** @param keyOf what a series of the table is sorted by, which never changes */
  constructor(keyOf: (series: number) => bigint) {
    this.keyOf = keyOf;
  }

  /**
   * Some series as they are listed; undefined: by their tags.
   *
   * @param numbers distinct, below `count`
   * @param count of the table's series
   */
  listed(numbers: Uint32Array, count: number): Uint32Array | undefined {
    if (count > LISTED_BY_HASH_MAX) return undefined;
    if (this.order.length !== count) this.sort(count);
    const { ranks } = this;
    if (numbers.length === count) return this.order;
    return numbers.slice().sort((a, b) => (ranks[a] as number) - (ranks[b] as number));
  }

  private sort(count: number): void {
    const { keys } = this;
    for (let series = keys.length; series < count; series++) keys.push(this.keyOf(series));
    const order = new Uint32Array(count);
    for (let series = 0; series < count; series++) order[series] = series;
    order.sort((a, b) => {
      const [x, y] = [keys[a] as bigint, keys[b] as bigint];
      return x < y ? -1 : x > y ? 1 : a - b;
    });
    this.order = order;
    this.ranks = new Uint32Array(count);
    for (let rank = 0; rank < count; rank++) this.ranks[order[rank] as number] = rank;
  }
}
