/** Bits, the highest of a byte first, as bzip2 has them; and its checksum, which is that of Ethernet with bits in this order. */

const POLYNOMIAL = 0x04c11db7;
const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let i = 0; i < 8; i++) crc = crc < 0 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  return crc >>> 0;
});

/** The running checksum with one byte more; it begins as 0xffffffff and is inverted at the end. */
export function crcStep(crc: number, byte: number): number {
  return ((crc << 8) ^ (TABLE[(crc >>> 24) ^ byte] as number)) >>> 0;
}

/** Reads bits. */
export class BitReader {
  private readonly bytes: Uint8Array;
  /** The next byte. */
  private at = 0;
  private held = 0;
  private heldBits = 0;

  /** @param skip bits of the first byte that are read already */
  constructor(bytes: Uint8Array, skip: number) {
    this.bytes = bytes;
    if (skip > 0) this.bits(skip);
  }

  /** @param count 0..24. @throws Error at the end */
  bits(count: number): number {
    while (this.heldBits < count) {
      if (this.at >= this.bytes.length) throw new Error("it ends in the middle of a block");
      this.held = (this.held << 8) | (this.bytes[this.at++] as number);
      this.heldBits += 8;
    }
    this.heldBits -= count;
    const value = this.held >>> this.heldBits;
    this.held &= (1 << this.heldBits) - 1;
    return value;
  }

  bits32(): number {
    const high = this.bits(16);
    return (high * 65_536 + this.bits(16)) >>> 0;
  }

  /** Bits read so far. */
  get position(): number {
    return this.at * 8 - this.heldBits;
  }
}
