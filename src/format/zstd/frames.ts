/**
 * The frames of zstd, by their lengths alone: the runtime's decompressors take what is cut off for whole, which would lose rows silently.
 * What blocks hold is not looked at, so it costs next to nothing. The layout is in FORMAT.md.
 */

const MAGIC = 0xfd2fb528;
/** The first of 16 numbers with which frames begin that are to be skipped. */
const SKIPPED_FIRST = 0x184d2a50;
const BLOCK_RUN = 1;
const BLOCK_RESERVED = 3;

/** What is read next. */
type Expected = "magic" | "skip-size" | "descriptor" | "header" | "block" | "content" | "checksum" | "nothing";

/** What is a number, of 1 to 4 bytes. */
const NUMBERS: ReadonlySet<Expected> = new Set(["magic", "skip-size", "descriptor", "block"]);

/** What the descriptor of a frame says. */
interface Head {
  /** Bytes between the descriptor and the size of the content. */
  readonly beforeSize: number;
  readonly sizeBytes: number;
  readonly hasChecksum: boolean;
}

function headOf(descriptor: number): Head {
  const isSingle = (descriptor & 32) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return { beforeSize: (isSingle ? 0 : 1) + dictionaryBytes, sizeBytes, hasChecksum: (descriptor & 4) !== 0 };
}

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
      const isNumber = NUMBERS.has(this.expected);
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
        if (value >= SKIPPED_FIRST && value < SKIPPED_FIRST + 16) return this.expect("skip-size", 4);
        return value === MAGIC ? this.expect("descriptor", 1) : this.expect("nothing", Number.POSITIVE_INFINITY);
      case "skip-size":
        this.isLast = true;
        this.hasChecksum = false;
        return this.expect("content", value);
      case "descriptor": {
        const head = headOf(value);
        this.hasChecksum = head.hasChecksum;
        return this.expect("header", head.beforeSize + head.sizeBytes);
      }
      case "header":
        return this.expect("block", 3);
      case "block": {
        const kind = (value >> 1) & 3;
        if (kind === BLOCK_RESERVED) return this.expect("nothing", Number.POSITIVE_INFINITY);
        this.isLast = (value & 1) !== 0;
        return this.expect("content", kind === BLOCK_RUN ? 1 : value >> 3);
      }
      case "content":
        if (!this.isLast) return this.expect("block", 3);
        return this.hasChecksum ? this.expect("checksum", 4) : this.expect("magic", 4);
      case "checksum":
        return this.expect("magic", 4);
      case "nothing": // It is never whole.
    }
  }
}

/** True when `bytes` is one or more whole frames and nothing else. */
export function isWholeZstd(bytes: Uint8Array): boolean {
  const frames = new ZstdFrames();
  frames.push(bytes);
  return bytes.length > 0 && frames.isWhole;
}

/** Bytes that the first frame says it unfolds to; undefined when it does not say so, or is none. */
export function zstdContentSize(bytes: Uint8Array): number | undefined {
  if (bytes.length < 5) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const { beforeSize, sizeBytes } = headOf(view.getUint8(4));
  const at = 5 + beforeSize;
  if (at + sizeBytes > bytes.length) return undefined;
  switch (sizeBytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    case 8:
      return Number(view.getBigUint64(at, true));
    default:
      return undefined;
  }
}
