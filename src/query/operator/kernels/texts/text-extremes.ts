/**
 * The largest or smallest text of each group, or other bytes: kept as bytes, with the first eight as two words that are compared first.
 *
 *   batch   rows ─► winner of each group among them (its entry), by prefix, then by bytes
 *   then    winners of the batch are copied (`kept-texts.ts`)
 *
 * 500,000 texts of 32 bytes, processor time (sort.bench.ts): in one group 102 ms as strings -> 3, in 100,000 groups 894 -> 86.
 */
import { grown } from "../../../../base/bytes/longer-array.ts";
import { compareBytes, type GroupTexts, KeptTexts } from "./kept-texts.ts";
import type { TextKey } from "../row-keys.ts";

/** Texts of a batch, by entries where they repeat. */
type Texts = Pick<TextKey, "offsets" | "bytes" | "codes" | "validity">;

const NO_TEXTS: Texts = { offsets: new Uint32Array(1), bytes: new Uint8Array(0), codes: undefined, validity: undefined };

/** See the file header. */
export class TextExtremes {
  private readonly kept = new KeptTexts();
  private readonly isLargest: boolean;
  private high: Uint32Array = new Uint32Array(64);
  private low: Uint32Array = new Uint32Array(64);
  /** The entry of the batch, and one more, that a group's text is for now; 0: it is the one that is kept. */
  private winners: Uint32Array = new Uint32Array(64);
  private readonly changed: number[] = [];
  private entries: Texts = NO_TEXTS;

  constructor(isLargest: boolean) {
    this.isLargest = isLargest;
  }

  /** Bytes that are held for texts. */
  get bytesHeld(): number {
    return this.kept.bytesHeld;
  }

  /** Makes room for groups. */
  reach(groupCount: number): void {
    this.high = grown(this.high, groupCount);
    this.low = grown(this.low, groupCount);
    this.kept.reach(groupCount);
    this.winners = grown(this.winners, groupCount);
  }

  /** Begins a batch. `keep` has to be called behind its rows. */
  begin(entries: Texts): void {
    this.entries = entries;
  }

  /**
   * Takes rows `[from, to)`: row i is of `groups[i]`, or all of `group`.
   */
  add(from: number, to: number, group: number, groups: Int32Array | undefined): void {
    const { offsets, bytes, codes, validity } = this.entries;
    const { high, low, isLargest, winners } = this;
    const { bits } = this.kept;
    let previous = -1;
    for (let i = from; i < to; i++) {
      if (validity !== undefined && validity[i] === 0) continue;
      let entry = i;
      if (codes !== undefined) {
        entry = codes[i]!;
        if (entry === previous && groups === undefined) continue;
        previous = entry;
      }
      const own = groups === undefined ? group : groups[i]!;
      const start = offsets[entry]!;
      const length = offsets[entry + 1]! - start;
      const h = length >= 4 ? fourBytes(bytes, start) : fewBytes(bytes, start, length);
      const isHeld = bits[own] !== 0 || winners[own] !== 0;
      if (isHeld && h !== high[own]! && h > high[own]! !== isLargest) continue;
      const rest = length - 4;
      const l = rest >= 4 ? fourBytes(bytes, start + 4) : rest > 0 ? fewBytes(bytes, start + 4, rest) : 0;
      if (isHeld && h === high[own]!) {
        if (l === low[own]!) {
          const order = this.compareWith(own, start, length);
          if (order === 0 || order > 0 !== isLargest) continue;
        } else if (l > low[own]! !== isLargest) continue;
      }
      high[own] = h;
      low[own] = l;
      if (winners[own] === 0) this.changed.push(own);
      winners[own] = entry + 1;
    }
  }

  /** The order of `bytes[start, start + length)` of the batch and the text of a group. */
  private compareWith(group: number, start: number, length: number): number {
    const { offsets, bytes } = this.entries;
    const winner = this.winners[group]!;
    if (winner === 0) return this.kept.compare(group, bytes, start, length);
    const at = offsets[winner - 1]!;
    return compareBytes(bytes, start, length, bytes, at, offsets[winner]! - at);
  }

  /** Copies the winners of the batch, whose memory is looked at no more. */
  keep(): void {
    const { changed, winners, kept } = this;
    const { offsets, bytes } = this.entries;
    for (let i = 0; i < changed.length; i++) {
      const group = changed[i]!;
      const entry = winners[group]! - 1;
      const start = offsets[entry]!;
      winners[group] = 0;
      kept.set(group, bytes, start, offsets[entry + 1]! - start);
    }
    changed.length = 0;
  }

  /** The texts of groups `[0, groupCount)`; NULL for those without. */
  texts(groupCount: number): GroupTexts {
    return this.kept.texts(groupCount);
  }
}

/** Four bytes as a number, the highest first. */
function fourBytes(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Less than four, zeros behind them. */
function fewBytes(bytes: Uint8Array, at: number, length: number): number {
  let word = 0;
  for (let k = 0; k < length; k++) word |= bytes[at + k]! << (24 - 8 * k);
  return word >>> 0;
}
