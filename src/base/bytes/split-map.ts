/**
 * A map that grows in small pieces: one of a million entries takes 50 ms and more to grow, and all the while nothing else runs.
 *
 * Some thousand entries lie in one map; more in many. A map grows when its entries have doubled; would all have as many, all would grow at
 * once. So each has a share that is a little larger than that of the one before, the last twice that of the first: then they grow one
 * after the other while all entries double.
 */

/** Entries that one map holds, and maps that take more. */
const MAP_ENTRIES_MAX = 32_768;
const MAPS = 256;
/** The map of a key by the first bits of its hash. */
const MAP_BITS = 12;
const MAP_OF: Uint8Array = Uint8Array.from({ length: 2 ** MAP_BITS }, (_, i) => Math.floor(MAPS * Math.log2(1 + i / 2 ** MAP_BITS)));

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

/** What a key may be; numbers are told apart as `Map` does: NaN is one, -0 is 0. */
export type SplitKey = string | number | bigint | boolean | undefined;

/** See the file header. */
export class SplitMap<V> {
  /** All entries, until there are too many of them. */
  private few = new Map<SplitKey, V>();
  private maps: readonly Map<SplitKey, V>[] | undefined;

  get(key: SplitKey): V | undefined {
    return this.mapOf(key).get(key);
  }

  has(key: SplitKey): boolean {
    return this.mapOf(key).has(key);
  }

  set(key: SplitKey, value: V): void {
    this.mapOf(key).set(key, value);
    if (this.maps === undefined && this.few.size >= MAP_ENTRIES_MAX) this.split();
  }

  /** How many entries each map has. */
  get sizes(): readonly number[] {
    return this.maps?.map((map) => map.size) ?? [this.few.size];
  }

  private split(): void {
    const { few } = this;
    this.maps = Array.from({ length: MAPS }, () => new Map<SplitKey, V>());
    this.few = new Map();
    for (const [key, value] of few) this.mapOf(key).set(key, value);
  }

  private mapOf(key: SplitKey): Map<SplitKey, V> {
    return this.maps === undefined ? this.few : (this.maps[MAP_OF[hashOf(key) >>> (32 - MAP_BITS)] as number] ?? this.few);
  }
}

/** A whole number below 2^32 whose first bits differ where keys do; the same for equal keys. */
function hashOf(key: SplitKey): number {
  switch (typeof key) {
    case "number":
      return hashOfNumber(key);
    case "string":
      return Bun.hash.xxHash32(key);
    case "bigint":
      return hashOfNumber(Number(key));
    default:
      return 0;
  }
}

function hashOfNumber(key: number): number {
  if ((key | 0) === key) return Math.imul(key, 0x9e3779b1) >>> 0;
  double[0] = Number.isNaN(key) ? Number.NaN : key + 0;
  return Math.imul(Math.imul(halves[1] as number, 0x85ebca6b) ^ (halves[0] as number), 0x9e3779b1) >>> 0;
}
