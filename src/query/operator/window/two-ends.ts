/**
 * A fold over a frame that cannot be taken back, from both ends of a turning point: what lies before it is folded once from right to left,
 * what comes after it as it comes. When the start passes the turning point, the next one is the end of the frame, or of the next block of
 * a long one: no turn takes longer than a block, and no more than a block is kept folded.
 *
 *   frame     [s ……… turn ……… block ……… block … e)       value = front[s] · (blocks) · back
 *   front           ◄────
 *   blocks, back          ────►     ────►     ────►
 *
 * Each number is folded at most twice.
 */
import type { FrameNumbers } from "./frame-numbers.ts";
import type { Hold } from "./frame-walk.ts";

/** Numbers of a block: some hundred microseconds. */
const BLOCK = 65_536;

/** Bytes of one part of `front`, about. */
const PART_BYTES = 8;

/** See the file header. */
export class TwoEnds<T> {
  private readonly lift: (value: number) => T;
  private readonly fold: (a: T, b: T) => T;
  private readonly neutral: T;
  private readonly hold: Hold;
  private readonly blockNumbers: number;
  /** Parts of the numbers before the turning point, the last number's first; those of numbers that have left from the end on. */
  private readonly front: T[] = [];
  private frontBytes = 0;
  /** Of the numbers before the turning point: how many have left, and all. */
  private left = 0;
  private count = 0;
  /** Blocks that are full, and what they are together. */
  private readonly blocks: T[] = [];
  private middle: T;
  private back: T;
  private backCount = 0;

  /** @param lift one number as what is folded. @param hold counts bytes. @param blockNumbers numbers of a block, at least 1 */
  constructor(lift: (value: number) => T, fold: (a: T, b: T) => T, neutral: T, hold: Hold, blockNumbers: number = BLOCK) {
    this.lift = lift;
    this.fold = fold;
    this.neutral = neutral;
    this.hold = hold;
    this.blockNumbers = blockNumbers;
    this.middle = neutral;
    this.back = neutral;
  }

  /** A number comes in at the end. */
  add(value: number): void {
    this.back = this.fold(this.back, this.lift(value));
    if (++this.backCount < this.blockNumbers) return;
    this.blocks.push(this.back);
    this.middle = this.fold(this.middle, this.back);
    this.back = this.neutral;
    this.backCount = 0;
  }

  /** The numbers at `[from, to)` leave, the first that are there. */
  drop(numbers: FrameNumbers, from: number, to: number): void {
    this.left += to - from;
    while (this.left > this.count) this.turn(numbers, to);
  }

  /** Moves the turning point on. The numbers that stay begin at place `from`. */
  private turn({ values, tail }: FrameNumbers, from: number): void {
    const left = this.left - this.count;
    const count = this.nextCount();
    this.left = Math.max(left - count, 0);
    this.count = Math.max(count - left, 0);
    const bytes = this.count * PART_BYTES;
    if (bytes > this.frontBytes) {
      this.hold(bytes - this.frontBytes, tail - from);
      this.frontBytes = bytes;
    }
    const { front, fold, lift } = this;
    let value = this.neutral;
    for (let i = this.count - 1, at = 0; i >= 0; i--, at++) {
      value = fold(lift(values[from + i] as number), value);
      front[at] = value;
    }
  }

  /** How many numbers the first block has, which is taken away, or what comes behind all blocks. */
  private nextCount(): number {
    if (this.blocks.shift() !== undefined) {
      this.middle = this.neutral;
      for (const block of this.blocks) this.middle = this.fold(this.middle, block);
      return this.blockNumbers;
    }
    const { backCount } = this;
    this.back = this.neutral;
    this.backCount = 0;
    return backCount;
  }

  /** All leave. */
  clear(): void {
    this.left = 0;
    this.count = 0;
    this.blocks.length = 0;
    this.middle = this.neutral;
    this.back = this.neutral;
    this.backCount = 0;
  }

  /** The fold of those that are there. */
  get value(): T {
    const { left, count, fold } = this;
    const behind = this.blocks.length === 0 ? this.back : fold(this.middle, this.back);
    return left < count ? fold(this.front[count - 1 - left] as T, behind) : behind;
  }
}
