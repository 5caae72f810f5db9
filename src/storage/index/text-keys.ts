/**
 * Keys of texts for the full-text index: whole words, and every three bytes of what is written without a gap.
 *
 *   "Warning: café42"   words      warning, caf, 42                    runs of ASCII letters and digits, lower case
 *                       trigrams   war arn rni nin ing | caf af├ f├® ├®4 ®42    of runs of letters, digits and bytes from 0x80 on
 *
 * Words answer `matches_term`, whose borders are those of ASCII letters and digits. Trigrams answer substrings in any script: a Chinese
 * character is three bytes, so two of them leave four trigrams. Case is folded for ASCII alone and on both sides, so that a filter passes
 * every text that a case-sensitive search finds.
 *
 * Lower-casing may turn two characters outside ASCII (U+212A, U+0130) into ASCII letters; a block that holds one says so by a key of its
 * own, and searches in lower-cased text then read it.
 */
import type { TextPart } from "../../table/scan.ts";
import { HASHED, hashBytes } from "./key-hash.ts";
import { FILTER_KEYS_MAX, TEXT_KEYS_MAX } from "./limits.ts";
import type { PairSet } from "./pair-set.ts";

/** High half of the keys of trigrams. The keys of words are hashes; one that meets these by chance only makes a filter pass. */
const TRIGRAM_HIGH = 0xffffffff;
const SPECIAL_HIGH = 0xfffffffe;

/** A key to ask a filter for. */
export interface TextKey {
  readonly high: number;
  readonly low: number;
}

/** By byte: lower-case letter or digit for ASCII letters and digits, the byte itself from 0x80 on, 0 for what separates. */
const FOLDED: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte;
  const character = String.fromCharCode(byte).toLowerCase();
  return /[a-z0-9]/.test(character) ? character.charCodeAt(0) : 0;
});

const encoder = new TextEncoder();

/** Gathers the keys of the texts of one block. Trigrams are marked in 2 MB of bits, which costs less than a set of them. */
export class TextKeys {
  private readonly marks = new Uint32Array(1 << 19);
  private trigrams = new Uint32Array(4096);
  private trigramCount = 0;
  private hasSpecial = false;
  private folded = new Uint8Array(1024);

  /** Adds the words of `bytes[start, end)` to `into`. Returns false when there was no room. */
  add(bytes: Uint8Array, start: number, end: number, into: PairSet): boolean {
    const length = end - start;
    if (this.folded.length < length) this.folded = new Uint8Array(length * 2);
    const { folded } = this;
    let seen = 0;
    for (let i = 0; i < length; i++) {
      const byte = FOLDED[bytes[start + i]!]!;
      folded[i] = byte;
      seen |= byte;
    }
    if (seen >= 0x80) this.hasSpecial ||= hasSpecial(folded, length);
    this.markTrigrams(length);
    for (let at = 0; at < length; ) {
      let to = at;
      while (to < length && isWord(folded[to]!)) to++;
      if (to > at) {
        hashBytes(folded, at, to);
        if (into.add(HASHED[0]!, HASHED[1]!) < 0) return false;
      }
      at = to + 1;
    }
    return this.trigramCount < FILTER_KEYS_MAX;
  }

  private markTrigrams(length: number): void {
    const { folded, marks } = this;
    let last = 0;
    let run = 0;
    for (let i = 0; i < length; i++) {
      const byte = folded[i]!;
      run = byte === 0 ? 0 : run + 1;
      last = ((last << 8) | byte) & 0xffffff;
      if (run < 3) continue;
      const bit = 1 << (last & 31);
      const word = marks[last >>> 5]!;
      if ((word & bit) !== 0) continue;
      marks[last >>> 5] = word | bit;
      if (this.trigramCount === this.trigrams.length) this.growTrigrams();
      this.trigrams[this.trigramCount++] = last;
    }
  }

  /** Adds what is not words to `into` and starts over. Returns false when there was no room. */
  finish(into: PairSet): boolean {
    let fits = true;
    for (let i = 0; i < this.trigramCount; i++) {
      const trigram = this.trigrams[i]!;
      this.marks[trigram >>> 5] = 0;
      if (fits) fits = into.add(TRIGRAM_HIGH, trigram) >= 0;
    }
    if (this.hasSpecial) fits = into.add(SPECIAL_HIGH, 0) >= 0 && fits;
    this.trigramCount = 0;
    this.hasSpecial = false;
    return fits;
  }

  private growTrigrams(): void {
    const { trigrams } = this;
    this.trigrams = new Uint32Array(trigrams.length * 2);
    this.trigrams.set(trigrams);
  }
}

function isWord(folded: number): boolean {
  return folded !== 0 && folded < 0x80;
}

/** Whether U+212A or U+0130 occurs. */
function hasSpecial(folded: Uint8Array, length: number): boolean {
  for (let i = 0; i + 1 < length; i++) {
    const byte = folded[i]!;
    if (byte < 0xc4) continue;
    if (byte === 0xc4 && folded[i + 1] === 0xb0) return true;
    if (byte === 0xe2 && folded[i + 1] === 0x84 && folded[i + 2] === 0xaa) return true;
  }
  return false;
}

/** The key of blocks with characters that lower-casing turns into ASCII letters. */
export const SPECIAL_KEY: TextKey = { high: SPECIAL_HIGH, low: 0 };

/** Keys that a block of texts has if one of them holds the part: words first, at most `TEXT_KEYS_MAX`. None: every block may hold it. */
export function keysOfPart({ text, wholeStart, wholeEnd, lowered }: TextPart): readonly TextKey[] {
  const folded = encoder.encode(text).map((byte) => FOLDED[byte] ?? 0);
  const keys: TextKey[] = [];
  for (let at = 0; at < folded.length && keys.length < TEXT_KEYS_MAX; ) {
    let to = at;
    while (to < folded.length && isWord(folded[to]!)) to++;
    if (to > at && (at > 0 || wholeStart) && (to < folded.length || wholeEnd)) {
      hashBytes(folded, at, to);
      keys.push({ high: HASHED[0]!, low: HASHED[1]! });
    }
    at = to + 1;
  }
  for (let i = 2; i < folded.length && keys.length < TEXT_KEYS_MAX; i++) {
    const bytes = [folded[i - 2]!, folded[i - 1]!, folded[i]!];
    // Other letters than those of ASCII are not folded, so their lower case says nothing about what is stored.
    if (bytes.some((byte) => byte === 0 || (lowered && byte >= 0x80))) continue;
    keys.push({ high: TRIGRAM_HIGH, low: (bytes[0]! << 16) | (bytes[1]! << 8) | bytes[2]! });
  }
  return keys;
}
