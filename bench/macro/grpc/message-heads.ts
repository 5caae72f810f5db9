/** Finds the messages in the data of a call and keeps the start of each: the rest of a large one is only counted. */

/** Whether it is packed, and its length. */
const PREFIX_BYTES = 5;

/** Called with the first bytes of a message, borrowed until it returns, and how long the message is. */
export type OnMessage = (head: Uint8Array, length: number) => void;

/** See the file header. */
export class MessageHeads {
  private readonly onMessage: OnMessage;
  private readonly prefix = new Uint8Array(PREFIX_BYTES);
  private prefixLength = 0;
  private readonly head: Uint8Array;
  private headLength = 0;
  private length = 0;
  /** Bytes of the message that are still to come. */
  private left = 0;

  /** @param headBytesMax most bytes of a message that are kept */
  constructor(headBytesMax: number, onMessage: OnMessage) {
    this.head = new Uint8Array(headBytesMax);
    this.onMessage = onMessage;
  }

  /** Takes what came. @throws Error for a packed message */
  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.prefixLength < PREFIX_BYTES) {
        this.prefix[this.prefixLength++] = bytes[at++]!;
        if (this.prefixLength === PREFIX_BYTES) this.begin();
        continue;
      }
      const count = Math.min(this.left, bytes.length - at);
      const kept = Math.min(count, this.head.length - this.headLength);
      if (kept > 0) this.head.set(bytes.subarray(at, at + kept), this.headLength);
      this.headLength += kept;
      this.left -= count;
      at += count;
      if (this.left === 0) this.end();
    }
  }

  private begin(): void {
    if (this.prefix[0] !== 0) throw new Error("cannot read an answer: it is packed, which was not asked for");
    this.length = new DataView(this.prefix.buffer).getUint32(1);
    this.left = this.length;
    this.headLength = 0;
    if (this.left === 0) this.end();
  }

  private end(): void {
    this.prefixLength = 0;
    this.onMessage(this.head.subarray(0, this.headLength), this.length);
  }
}
