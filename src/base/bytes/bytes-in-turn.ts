/**
 * Memory for pieces of bytes that are made one after the other, each of which goes out before the next but one is made: two pieces in turn,
 * since what the system hands out it has to clear first, page by page.
 */

/** Part of a piece that it is longer than needed once it was too short: lengths go up and down. */
const MORE = 1 / 8;

/** See the file header. */
export class BytesInTurn {
  private last: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  private other: Uint8Array<ArrayBuffer> = new Uint8Array(0);

  /** So many bytes at least, which hold whatever was there before. Valid until the next call but one. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const free = this.other;
    this.other = this.last;
    const wanted = free.length === 0 ? length : Math.ceil(length * (1 + MORE));
    this.last = free.length >= length ? free : Buffer.allocUnsafeSlow(wanted);
    return this.last;
  }
}
