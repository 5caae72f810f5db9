/**
 * Finds the number of a byte string that was probably seen before: first the one that followed the previous one last time, compared word
 * by word; then by a hash over words. A body of remote write names its series in nearly the same order again and again.
 */
import { longer } from "../../base/bytes/longer-array.ts";
import { SeriesDictionary, type TagSet, type TagShape, type ValueLocator } from "../../table/series-dictionary.ts";

/** See the file header. The dictionary's keys are the numbers. */
export class KeyIndex {
  readonly dictionary: SeriesDictionary;
  private followers: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private previous = 0;
  private hash = 0;

  /** @param locate finds the values of keys that come by `addPlain` */
  constructor(bytesMax?: number, locate?: ValueLocator) {
    this.dictionary = new SeriesDictionary(bytesMax, locate);
  }

  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.followers.byteLength;
  }

  /** Forgets everything. */
  clear(): void {
    this.dictionary.clear();
    this.followers = new Uint32Array(1024);
    this.previous = 0;
  }

  /** The number that is likely to come next, if the bytes from `start` begin with its key and it ends by `end`; otherwise -1. */
  guess(view: DataView, start: number, end: number): number {
    const { dictionary } = this;
    const key = this.followers[this.previous] as number;
    if (key >= dictionary.size) return -1;
    const length = dictionary.lengths[key] as number;
    if (start + length > end || !dictionary.isAt(key, view, start)) return -1;
    return key;
  }

  /** Says which number came. */
  follow(key: number): void {
    this.followers[this.previous] = key;
    this.previous = key;
  }

  /** Says which number came last, where others came that it was not told of. */
  resume(key: number): void {
    this.previous = key;
  }

  /** The number of the bytes in `[start, end)`, or -1. */
  find(view: DataView, start: number, end: number): number {
    this.hash = hashOf(view, start, end);
    return this.dictionary.findIn(view, start, end, this.hash);
  }

  /** Gives the bytes that `find` did not find last a number. */
  add(bytes: Uint8Array, start: number, end: number, tags: TagSet): number {
    return this.followed(this.dictionary.add(bytes, start, end, this.hash, tags));
  }

  /** As `add`, of a key whose values lie in it. */
  addPlain(view: DataView, start: number, end: number, shape: TagShape): number {
    return this.followed(this.dictionary.addPlain(view, start, end, this.hash, shape));
  }

  private followed(key: number): number {
    if (key >= this.followers.length) this.followers = longer(this.followers);
    return key;
  }
}

/** MurmurHash2's mixing over words; for tables of this process only. */
function hashOf(view: DataView, start: number, end: number): number {
  let hash = 0x9747b28c | 0;
  let at = start;
  for (const last = end - 4; at <= last; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  let rest = 0;
  for (let shift = 0; at < end; at++, shift += 8) rest |= view.getUint8(at) << shift;
  hash = Math.imul(hash ^ rest, 0x5bd1e995);
  hash = Math.imul(hash ^ (hash >>> 13) ^ (end - start), 0x5bd1e995);
  return (hash ^ (hash >>> 15)) >>> 0;
}
