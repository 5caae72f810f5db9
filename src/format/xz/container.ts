/** The .xz container: numbers, headers and checks that its writer and its reader share (FORMAT.md). */
import { crc32 } from "../../base/hash.ts";

/** First bytes of a stream. */
export const HEAD_MAGIC: Uint8Array = Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00);
/** Last bytes of one: "YZ". */
export const FOOT_MAGIC: Uint8Array = Uint8Array.of(0x59, 0x5a);
/** Number of the LZMA2 filter. */
export const FILTER_LZMA2 = 0x21;

/** Kinds of check, and their lengths in bytes. */
const CHECK_NONE = 0;
/** The check of what is written. */
export const CHECK_CRC32 = 1;
const CHECK_CRC64 = 4;
const CHECK_SHA256 = 10;

/** A number in pieces of 7 bits, the lowest first. */
export function numberBytes(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

/** The checksum of bytes, as 4 bytes. */
export function crcBytes(bytes: Uint8Array): Uint8Array {
  const crc = new Uint8Array(4);
  new DataView(crc.buffer).setUint32(0, crc32(bytes), true);
  return crc;
}

/** A check over unpacked bytes. */
export interface Check {
  update(bytes: Uint8Array): void;
  /** The value as it is stored. */
  digest(): Uint8Array;
}

/** A check of a kind. @throws Error for one that is not known */
export function checkOf(kind: number): Check {
  switch (kind) {
    case CHECK_NONE:
      return { update: () => undefined, digest: () => new Uint8Array(0) };
    case CHECK_CRC32: {
      let crc = 0;
      return {
        update: (bytes) => void (crc = crc32(bytes, crc)),
        digest: () => new Uint8Array(Uint32Array.of(crc).buffer),
      };
    }
    case CHECK_CRC64:
      return new Crc64();
    case CHECK_SHA256: {
      const hasher = new Bun.CryptoHasher("sha256");
      return { update: (bytes) => void hasher.update(bytes), digest: () => new Uint8Array(hasher.digest()) };
    }
    default:
      throw new Error(`its check is of kind ${kind}, which is not known`);
  }
}

const LOW = new Uint32Array(256);
const HIGH = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let crc = BigInt(byte);
  for (let i = 0; i < 8; i++) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ 0xc96c5795d7870f42n : crc >> 1n; // ECMA-182, reversed
  LOW[byte] = Number(crc & 0xffffffffn);
  HIGH[byte] = Number(crc >> 32n);
}

/** CRC-64 in two halves: bigints would be 50 times slower. */
class Crc64 implements Check {
  private low = 0xffffffff;
  private high = 0xffffffff;

  update(bytes: Uint8Array): void {
    let { low, high } = this;
    for (let i = 0; i < bytes.length; i++) {
      const at = (low ^ (bytes[i] as number)) & 0xff;
      low = (((low >>> 8) | (high << 24)) ^ (LOW[at] as number)) >>> 0;
      high = ((high >>> 8) ^ (HIGH[at] as number)) >>> 0;
    }
    this.low = low;
    this.high = high;
  }

  digest(): Uint8Array {
    return new Uint8Array(Uint32Array.of(~this.low, ~this.high).buffer);
  }
}
