/**
 * Open addressing with linear probing: hash → entry, for tables that keep what they look up elsewhere.
 *
 *   pairs   | hash | entry + 1 | hash | 0 | …           0 = free
 *           | hash | word | entry + 1 | …               slots of three words, where a second one tells keys apart
 *   older   the same, of slots that move in steps: those whose entries are not all among `pairs` yet
 *
 * The hash lies beside the entry, so that a probe looks at foreign bytes only where all 32 bits agree, and growing reads the old slots in
 * order and writes two ordered streams. With entries alone every probe of a full slot was a cache miss, and growing hashed every key
 * again: 1,000,000 new series of ten tags from lines to numbers in 2.4 s of a busy machine, before 3.5 (with what `fetch` does).
 *
 * At most three of four slots are in use: 10.7 to 21.3 B an entry of two words. Lookups are loops of the owner, since only it can compare
 * keys:
 *
 *   const { pairs, mask } = slots;
 *   for (let at = slotOf(hash, mask); ; at = (at + 2) & mask) {
 *     const entry = pairs[at + 1]! - 1;
 *     if (entry < 0) return -1;
 *     if (pairs[at] === hash && equals(entry, key)) return entry;
 *   }
 *
 * Slots of millions of entries take longer to grow than a thread may be held: an owner of so many makes them move in steps, some with each
 * entry that is added, and looks among `older` too where a hash `mayBeOlder`.
 */

/** How slots are made. */
export interface SlotOptions {
  /** Words of a slot: 2, or 3. */
  readonly stride?: 2 | 3;
  /** Whether they grow in steps. */
  readonly inSteps?: boolean;
}

/** Slots that move with each entry: all have before the longer ones are full, since those take 3/4 of as many entries until then. */
const MOVED_PER_ENTRY = 4;

/** See the file header. Hashes are signed 32-bit integers, entries are below 2^31 - 1. */
export class HashSlots {
  pairs: Int32Array<ArrayBuffer>;
  /** For positions in `pairs`, of slots of two words. */
  mask: number;
  /** Slots less one, a power of two less one. */
  slotMask: number;
  older: Int32Array | undefined;
  olderSlotMask = 0;
  /** The first of the older slots that has not moved; the one before is free. */
  private moved = 0;
  private count = 0;
  private readonly stride: 2 | 3;
  private readonly inSteps: boolean;
  /** What `fetch` saw, so that nobody takes its loads for useless. */
  seen = 0;

  /** @param slotCount a power of two, at least 2 */
  constructor(slotCount: number, { stride = 2, inSteps = false }: SlotOptions = {}) {
    this.stride = stride;
    this.inSteps = inSteps;
    this.pairs = new Int32Array(slotCount * stride);
    this.mask = this.pairs.length - 1;
    this.slotMask = slotCount - 1;
  }

  /** Adds an entry; the caller knows that it is not there. */
  add(hash: number, entry: number, word = 0): void {
    this.makeRoom(1);
    place(this.pairs, this.stride, this.slotMask, hash, word, entry + 1);
    this.added(1);
  }

  /** Entries that the slots still take before they are made longer. */
  get room(): number {
    return Math.floor(((this.slotMask + 1) * 3) / 4) - this.count;
  }

  /** Makes slots longer if they have no room for `count` entries that the owner is about to place itself. */
  makeRoom(count: number): void {
    if (this.room < count) this.lengthen(slotsFor(this.count + count, (this.slotMask + 1) * 2));
  }

  /** Notes that the owner has placed `count` entries itself. */
  added(count: number): void {
    this.count += count;
    if (this.older !== undefined) this.move(count * MOVED_PER_ENTRY);
  }

  /** Makes room for `count` entries. */
  reserve(count: number): void {
    const slotCount = slotsFor(count, this.slotMask + 1);
    if (slotCount > this.slotMask + 1) this.lengthen(slotCount);
  }

  /** Whether an entry of a hash that is not among `pairs` may be among `older`. */
  mayBeOlder(hash: number): boolean {
    return this.older !== undefined && (hash & this.olderSlotMask) >= this.moved;
  }

  /**
   * Looks at the slots of `count` hashes that are about to be looked up. Loads that do not wait for each other run beside each other, where
   * lookups wait for one cache miss after another: 1,000,000 new series in a table of 16 MiB.
   */
  fetch(hashes: Int32Array, count: number): void {
    const { pairs, slotMask, stride } = this;
    let seen = 0;
    for (let i = 0; i < count; i++) seen ^= pairs[((hashes[i] as number) & slotMask) * stride] as number;
    this.seen = seen;
  }

  /** Forgets all entries and keeps room for as many as `slotCount` slots hold. */
  reset(slotCount: number): void {
    this.pairs = new Int32Array(slotCount * this.stride);
    this.mask = this.pairs.length - 1;
    this.slotMask = slotCount - 1;
    this.older = undefined;
    this.count = 0;
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.pairs.byteLength + (this.older?.byteLength ?? 0);
  }

  private lengthen(slotCount: number): void {
    if (this.older !== undefined) this.move(Number.POSITIVE_INFINITY);
    this.older = this.pairs;
    this.olderSlotMask = this.slotMask;
    this.moved = 0;
    this.pairs = new Int32Array(slotCount * this.stride);
    this.mask = this.pairs.length - 1;
    this.slotMask = slotCount - 1;
    if (!this.inSteps) this.move(Number.POSITIVE_INFINITY);
  }

  /**
   * Moves entries of `count` more older slots or some more, up to a free one: what a hash that begins before it stands for is not behind
   * it. For an owner that looks up much more than it adds: a look among older slots costs as much again.
   */
  move(count: number): void {
    const { older, pairs, slotMask, stride } = this;
    if (older === undefined) return;
    const slotCount = this.olderSlotMask + 1;
    let slot = this.moved;
    const end = Math.min(slotCount, slot + count);
    for (let at = slot * stride; slot < slotCount; slot++, at += stride) {
      const entry = older[at + stride - 1] as number;
      if (entry !== 0) place(pairs, stride, slotMask, older[at] as number, older[at + 1] as number, entry);
      else if (slot >= end) break;
    }
    this.moved = slot;
    if (slot === slotCount) this.older = undefined;
  }
}

/** Where the search for a hash begins. */
export function slotOf(hash: number, mask: number): number {
  return (hash << 1) & mask;
}

/** Slots for some entries: `slotCount`, or twice as many and so on. */
function slotsFor(count: number, slotCount: number): number {
  let slots = slotCount;
  while (count * 4 > slots * 3) slots *= 2;
  return slots;
}

function place(pairs: Int32Array, stride: 2 | 3, slotMask: number, hash: number, word: number, entry: number): void {
  let slot = hash & slotMask;
  while (pairs[slot * stride + stride - 1] !== 0) slot = (slot + 1) & slotMask;
  const at = slot * stride;
  pairs[at] = hash;
  if (stride === 3) pairs[at + 1] = word;
  pairs[at + stride - 1] = entry;
}
