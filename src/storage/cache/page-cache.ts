/**
/**
 * Decoded pages, and what is known of open files, least recently used out first, limited by bytes together; the limit falls while the
 * server is short of memory. Keys are plain numbers, so a hit is one Map lookup for 16,384 values: whoever opens a file takes a range of
 * keys for all its pages, and no range is given out twice.
 */
import type { Vector } from "../../column/vector.ts";

/** Bytes of pages and batches after which their garbage is looked at. */
const PASSED_BYTES = 64 * 1024 * 1024;
/** Part of the full limit by which a lowered one rises at a time. */
const GROW_RATIO = 1 / 16;

/** A page that shares its arrays counts for so much of them: beyond as many that share, too much is counted, never too little. */
const SHARED_RATIO = 1 / 8;

interface Entry {
  readonly bytes: number;
  /** Undefined for what somebody else holds. */
  readonly vector: Vector | undefined;
  readonly evict: (() => void) | undefined;
}

/** See the file header. */
export class PageCache {
  private readonly entries: Map<number, Entry> = new Map();
  readonly bytesMax: number;
  /** The limit now. */
  private bytesLimit: number;
  private nextKey = 0;
  private readonly onPassed: () => void;
  private passedBytes = 0;
  /** Bytes held now. */
  bytes = 0;

  /** @param onPassed called when scans have made very much that may be garbage now: they leave the event loop no time to look itself */
  constructor(bytesMax: number, onPassed: () => void = () => undefined) {
    this.bytesMax = bytesMax;
    this.onPassed = onPassed;
    this.bytesLimit = bytesMax;
  }

  /** Drops the oldest pages until `bytes` are given back, and keeps no more than that until `mayGrow`. */
  giveBack(bytes: number): void {
    this.bytesLimit = Math.max(0, this.bytes - bytes);
    this.evict();
  }

  /** Lets the cache have a little more, up to its full limit. */
  mayGrow(): void {
    this.bytesLimit = Math.min(this.bytesMax, this.bytesLimit + this.bytesMax * GROW_RATIO);
  }

  /** The first of `count` keys that nobody else has. */
  takeKeys(count: number): number {
    const first = this.nextKey;
    this.nextKey += count;
    return first;
  }

  /** The page, if it is here; it then counts as just used, as does what somebody holds. */
  get(key: number): Vector | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.vector;
  }

  /** Keeps a page and drops the oldest ones beyond the limit. @param sharedBytes its part of what it holds together with other pages */
  put(key: number, vector: Vector, sharedBytes = 0): void {
    const bytes = vectorBytes(vector) + sharedBytes;
    this.passed(bytes);
    if (bytes <= this.bytesLimit) this.add(key, { bytes, vector, evict: undefined });
  }

  /** Keeps a page whose arrays another page has as well. */
  share(key: number, vector: Vector): void {
    const bytes = vectorBytes(vector) * SHARED_RATIO;
    if (bytes <= this.bytesLimit) this.add(key, { bytes, vector, evict: undefined });
  }

  /** Says that this much was made for a scan, and soon is of no use to anybody. */
  passed(bytes: number): void {
    this.passedBytes += bytes;
    if (this.passedBytes < PASSED_BYTES) return;
    this.passedBytes = 0;
    this.onPassed();
  }

  /** Counts `bytes` that the caller holds; `evict` is called once, when they should go, which may be before this returns. */
  hold(key: number, bytes: number, evict: () => void): void {
    this.add(key, { bytes, vector: undefined, evict });
  }

  /** Says that what is under the key is no longer there: it is not evicted any more. */
  remove(key: number): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.bytes -= entry.bytes;
  }

  /** Drops what is under the keys `[first, first + count)`: pages that nobody will ask for again. */
  removeRange(first: number, count: number): void {
    if (count <= this.entries.size) {
      for (let key = first; key < first + count; key++) this.remove(key);
      return;
    }
    for (const key of this.entries.keys()) if (key >= first && key < first + count) this.remove(key);
  }

  private add(key: number, entry: Entry): void {
    this.remove(key);
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
    this.evict();
  }

  private evict(): void {
    for (const [oldest, { evict }] of this.entries) {
      if (this.bytes <= this.bytesLimit) break;
      this.remove(oldest);
      evict?.();
    }
  }
}

/** Bytes of a vector's arrays; the strings of a dictionary and entries are shared and do not count. */
export function vectorBytes(vector: Vector): number {
  switch (vector.kind) {
    case "number":
    case "wide":
      return vector.values.byteLength + (vector.validity?.byteLength ?? 0);
    case "time":
      return vector.offsets.byteLength + (vector.validity?.byteLength ?? 0);
    case "bytes":
      return vector.offsets.byteLength + vector.bytes.byteLength + (vector.validity?.byteLength ?? 0);
    case "dictionary":
    case "coded":
      return vector.codes.byteLength;
  }
}
