/**
 * Whether a zstd stream ends where a frame ends: the runtime's decompressor takes one that is cut off for whole. Follows the lengths of
 * blocks and looks at nothing else, so it costs next to nothing. Source: RFC 8878, sections 3.1.1 and 3.1.2.
 */

/** What is read next. */
type Expected = "magic" | "skip-size" | "descriptor" | "header" | "block" | "content" | "checksum";

/** Watches the bytes of a stream go by. */
export class ZstdFrames {
  private expected: Expected = "magic";
  /** Bytes of `expected` still to come. */
  private left = 4;
  /** Little-endian number of the bytes so far, where there are at most 4. */
  private value = 0;
  private read = 0;
  private isLast = false;
  private hasChecksum = false;

  /** Whether all frames so far are whole. */
  get isWhole(): boolean {
    return this.expected === "magic" && this.left === 4;
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const isNumber = this.expected !== "header" && this.expected !== "content" && this.expected !== "checksum";
      const take = isNumber ? 1 : Math.min(this.left, bytes.length - at);
      if (isNumber) this.value += (bytes[at] ?? 0) * 2 ** (8 * this.read++);
      at += take;
      this.left -= take;
      while (this.left === 0) this.advance();
    }
  }

  private expect(what: Expected, length: number): void {
    this.expected = what;
    this.left = length;
    this.value = 0;
    this.read = 0;
  }

  private advance(): void {
    const { value } = this;
    switch (this.expected) {
      case "magic":
        // 0x184D2A50 to …5F begin a frame to be skipped; what begins no frame at all the decompressor refuses.
        return value >= 0x184d2a50 && value <= 0x184d2a5f ? this.expect("skip-size", 4) : this.expect("descriptor", 1);
      case "skip-size":
        this.isLast = true;
        this.hasChecksum = false;
        return this.expect("content", value);
      case "descriptor": {
        this.hasChecksum = (value & 4) !== 0;
        const isSingle = (value & 32) !== 0;
        const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][value >> 6] ?? 0;
        return this.expect("header", (isSingle ? 0 : 1) + ([0, 1, 2, 4][value & 3] ?? 0) + sizeBytes);
      }
      case "header":
        return this.expect("block", 3);
      case "block":
        this.isLast = (value & 1) !== 0;
        // A run of one byte (type 1) is stored as that byte.
        return this.expect("content", ((value >> 1) & 3) === 1 ? 1 : value >> 3);
      case "content":
        if (!this.isLast) return this.expect("block", 3);
        return this.hasChecksum ? this.expect("checksum", 4) : this.expect("magic", 4);
      case "checksum":
        return this.expect("magic", 4);
    }
  }
}
