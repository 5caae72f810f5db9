/**
 * Memory for the texts of one file while it is written, used again by the next: fresh memory costs a fault and a cleared page each 4 KiB,
 * which was a fifth of a flush of log records.
 *
 * It grows to what the file before needed, and goes when no file was written for a while.
 */

/** Most bytes that stay between files. Reason: a flush of 32 MiB in memory needs about that much. */
const KEPT_BYTES_MAX: number = 64 * 1024 * 1024;
/** Room for a file that is a little larger than the last. */
const SLACK = 1.25;
const KEPT_MILLIS = 10_000;

/** See the file header. Everything taken is valid until `end`; `begin` and `end` enclose one piece of work that waits for nothing. */
export class ColumnScratch {
  private slab: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  private used = 0;
  private taken = 0;
  private lastTaken = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts with all memory free. */
  begin(): void {
    const wanted = Math.min(KEPT_BYTES_MAX, Math.ceil(this.lastTaken * SLACK));
    if (this.lastTaken > this.slab.length && wanted > this.slab.length) this.slab = new Uint8Array(wanted);
    this.used = 0;
    this.taken = 0;
  }

  /** Memory with arbitrary bytes in it. An arrow function, since it is handed on as it is. */
  readonly take = (byteLength: number): Uint8Array => {
    this.taken += byteLength;
    if (this.used + byteLength > this.slab.length) return new Uint8Array(byteLength);
    const start = this.used;
    this.used += byteLength;
    return this.slab.subarray(start, this.used);
  };

  /** Says that nothing taken is used any more. */
  end(): void {
    this.lastTaken = this.taken;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.slab = new Uint8Array(0);
      this.lastTaken = 0;
    }, KEPT_MILLIS);
    this.timer.unref();
  }
}
