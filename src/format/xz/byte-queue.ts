/** Bytes of a stream, taken in the lengths that a reader asks for. */

/** Owns the iteration of its source. */
export class ByteQueue {
  private readonly source: AsyncIterator<Uint8Array>;
  private held: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  private at = 0;
  private isOver = false;
  /** Bytes taken so far. */
  position = 0;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.source = bytes[Symbol.asyncIterator]();
  }

  /** The next bytes, valid as long as the caller likes. @throws Error when there are not so many */
  async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    await this.fill(length);
    if (this.held.length - this.at < length) throw new Error("it ends too early");
    const taken = this.held.slice(this.at, this.at + length);
    this.at += length;
    this.position += length;
    return taken;
  }

  /** The next byte, which stays. @throws Error at the end */
  async peek(): Promise<number> {
    await this.fill(1);
    const byte = this.held[this.at];
    if (byte === undefined) throw new Error("it ends too early");
    return byte;
  }

  async isAtEnd(): Promise<boolean> {
    await this.fill(1);
    return this.at >= this.held.length;
  }

  /** Ends the source. */
  async close(): Promise<void> {
    await this.source.return?.();
  }

  private async fill(length: number): Promise<void> {
    if (this.held.length - this.at >= length || this.isOver) return;
    const parts: Uint8Array[] = [this.held.subarray(this.at)];
    let total = this.held.length - this.at;
    while (total < length && !this.isOver) {
      const { value, done } = await this.source.next();
      if (done === true) this.isOver = true;
      else {
        parts.push(value);
        total += value.length;
      }
    }
    this.held = new Uint8Array(Buffer.concat(parts));
    this.at = 0;
  }
}
