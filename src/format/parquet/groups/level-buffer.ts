import { longer } from "../../../base/bytes/longer-array.ts";

/** A growing run of levels, a byte each. */
export class LevelBuffer {
  private bytes = new Uint8Array(1024);
  private length = 0;

  push(level: number): void {
    if (this.length === this.bytes.length) this.bytes = longer(this.bytes);
    this.bytes[this.length++] = level;
  }

  /** The levels, which are the caller's; the buffer is empty then. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = new Uint8Array(1024);
    this.length = 0;
    return taken;
  }
}
