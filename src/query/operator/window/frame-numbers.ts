/** The numbers of a frame that count, with their rows: they come in at the end and leave at the start. */

import type { Hold } from "./frame-walk.ts";

/** Bytes of a number and its row. */
const ENTRY_BYTES = 12;

/** Room for so many at first. */
const FIRST = 16;

/** See the file header: those at `[head, tail)`. */
export class FrameNumbers {
  values: Float64Array = new Float64Array(FIRST);
  head = 0;
  tail = 0;
  private rows: Uint32Array = new Uint32Array(FIRST);
  private readonly hold: Hold;

  /** @param hold counts bytes */
  constructor(hold: Hold) {
    this.hold = hold;
  }

  /** Takes the next number. */
  push(row: number, value: number): void {
    if (this.tail === this.values.length) this.makeRoom();
    this.rows[this.tail] = row;
    this.values[this.tail++] = value;
  }

  /** The place of the first number whose row is not before `to`. */
  placeOf(to: number): number {
    const { rows, tail } = this;
    let at = this.head;
    while (at < tail && (rows[at] as number) < to) at++;
    return at;
  }

  /** What has left makes room if it is half of all. */
  private makeRoom(): void {
    const { rows, values, head, tail } = this;
    if (head * 2 < tail) {
      this.hold(tail * ENTRY_BYTES, tail - head);
      this.rows = new Uint32Array(tail * 2);
      this.values = new Float64Array(tail * 2);
    }
    this.rows.set(rows.subarray(head, tail));
    this.values.set(values.subarray(head, tail));
    this.head = 0;
    this.tail = tail - head;
  }
}
