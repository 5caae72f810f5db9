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
import { longer } from "../../base/bytes/longer-array.ts";
import type { TextPart } from "../../table/scan.ts";
import { finished, HASHED, HIGH_FACTOR, HIGH_SEED, hashBytes, LOW_FACTOR, LOW_SEED } from "./key-hash.ts";
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

  /** Adds the words of `bytes[start, end)` to `into`. Returns false when there was no room. One pass: no byte is read again. */
  add(bytes: Uint8Array, start: number, end: number, into: PairSet): boolean {
    const { marks } = this;
    let last = 0; // The last three bytes of the run.
    let run = 0;
    let word = 0; // Bytes of the word so far; its hash as `hashBytes` has it.
    let high = HIGH_SEED;
    let low = LOW_SEED;
    let seen = 0;
    for (let i = start; i <= end; i++) {
      const byte = i < end ? FOLDED[bytes[i]!]! : 0;
      seen |= byte;
      if (byte !== 0) {
        last = ((last << 8) | byte) & 0xffffff;
        if (++run >= 3 && (marks[last >>> 5]! & (1 << (last & 31))) === 0) this.mark(last);
        if (byte < 0x80) {
          high = Math.imul(high ^ byte, HIGH_FACTOR);
          low = Math.imul(low ^ byte, LOW_FACTOR);
          low ^= low >>> 15;
          word++;
          continue;
        }
      } else run = 0;
      if (word === 0) continue;
      if (into.add(finished(high ^ word), finished(low)) < 0) return false;
      high = HIGH_SEED;
      low = LOW_SEED;
      word = 0;
    }
    if (seen >= 0x80) this.hasSpecial ||= hasSpecial(bytes, start, end);
    return this.trigramCount < FILTER_KEYS_MAX;
  }

  private mark(trigram: number): void {
    const { marks } = this;
    marks[trigram >>> 5] = marks[trigram >>> 5]! | (1 << (trigram & 31));
    if (this.trigramCount === this.trigrams.length) this.growTrigrams();
    this.trigrams[this.trigramCount++] = trigram;
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
    this.trigrams = longer(this.trigrams);
  }
}

function isWord(folded: number): boolean {
  return folded !== 0 && folded < 0x80;
}

/** Whether U+212A or U+0130 occurs. */
function hasSpecial(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i + 1 < end; i++) {
    const byte = bytes[i]!;
    if (byte < 0xc4) continue;
    if (byte === 0xc4 && bytes[i + 1] === 0xb0) return true;
    if (byte === 0xe2 && i + 2 < end && bytes[i + 1] === 0x84 && bytes[i + 2] === 0xaa) return true;
  }
  return false;
}

/** The key of blocks with characters that lower-casing turns into ASCII letters. */
export const SPECIAL_KEY: TextKey = { high: SPECIAL_HIGH, low: 0 };

/** Keys that a block of texts has if one of them holds the part: words first, at most `TEXT_KEYS_MAX`. None: every block may hold it. */
export function keysOfPart({ text, wholeStart, wholeEnd, lowered }: TextPart): readonly TextKey[] {
  const folded = encoder.encode(text).map((byte) => FOLDED[byte]!);
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
