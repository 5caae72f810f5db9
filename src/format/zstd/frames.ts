/**
 * The frames of zstd, by their lengths alone: the runtime's decompressors take what is cut off for whole, which would lose rows silently.
 * What blocks hold is not looked at, so it costs next to nothing. The layout is in FORMAT.md.
 */

const MAGIC = 0xfd2fb528;
/** The first of 16 numbers with which frames begin that are to be skipped. */
const SKIPPED_FIRST = 0x184d2a50;
const BLOCK_RUN = 1;
const BLOCK_PACKED = 2;
const BLOCK_RESERVED = 3;

/** Most bytes that a packed block unfolds to, and most blocks that are gone over. Reason: a million takes 5 ms, and holds up to 128 GiB. */
const BLOCK_BYTES_MAX: number = 128 * 1024;
const BLOCKS_MAX: number = 1 << 20;

/** Of a frame's descriptor: its window is its content, whose size it says. */
const SINGLE_SEGMENT = 32;

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
  const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
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

/**
 * Most bytes that `bytes` unfold to, where they are one or more whole frames and nothing else; undefined where they are not, or have more
 * than a million blocks. What a frame says of itself counts; one that says nothing, as writers of streams leave it, has what its blocks may
 * hold: full ones but the last, so that it is 128 KiB more than the truth at most where a writer means no harm.
 */
export function zstdSizeMax(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  let total = 0;
  let blocks = 0;
  let at = 0;
  while (at < length) {
    if (at + 5 > length) return undefined;
    const magic = view.getUint32(at, true);
    if (magic >= SKIPPED_FIRST && magic < SKIPPED_FIRST + 16) {
      if (at + 8 > length) return undefined;
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (magic !== MAGIC) return undefined;
    const said = zstdContentSize(bytes.subarray(at));
    const descriptor = view.getUint8(at + 4);
    const { beforeSize, sizeBytes, hasChecksum } = headOf(descriptor);
    const blockMax = (descriptor & SINGLE_SEGMENT) !== 0 ? BLOCK_BYTES_MAX : Math.min(BLOCK_BYTES_MAX, windowBytes(bytes[at + 5] ?? 0));
    at += 5 + beforeSize + sizeBytes;
    let held = 0;
    for (let isLast = false; !isLast; ) {
      if (at + 3 > length || ++blocks > BLOCKS_MAX) return undefined;
      const head = view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
      const kind = (head >> 1) & 3;
      if (kind === BLOCK_RESERVED) return undefined;
      isLast = (head & 1) !== 0;
      held += kind === BLOCK_PACKED ? blockMax : head >> 3;
      at += 3 + (kind === BLOCK_RUN ? 1 : head >> 3);
    }
    total += said ?? held;
    if (hasChecksum) at += 4;
  }
  return at === length && length > 0 ? total : undefined;
}

/** Of a window's descriptor. */
function windowBytes(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}
