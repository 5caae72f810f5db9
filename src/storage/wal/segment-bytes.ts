/**
 * Bytes of a segment file as it is read from its begin to its end: a window that moves on by pieces.
 *
 *   file    ───────────[from ───── to)──────────────      window.subarray(0, to - from) holds them
 *                            ▲ what is read next; what the window holds behind it is moved to the front, once a piece
 *
 * Memory: the window has room for a piece, or for what one call asks for if that is more; with `keepFrom`, for all of that once more, so
 * that a long stretch is moved a few times and not once a piece. Nothing beyond the end of the file is ever asked for.
 */
import { assert } from "../../base/assert.ts";
import type { LogDisk } from "./log-disk.ts";

/** Bytes that are read at once. Reason: a few milliseconds of reading, and most records lie in one piece. */
const SEGMENT_PIECE_BYTES: number = 4 * 1024 * 1024;

/** Invariant: `window` begins with bytes `[from, to)` of the file, and `0 <= from <= to <= length`. */
export class SegmentBytes {
  /** Bytes of the file when it was opened. */
  readonly length: number;
  /** Valid until the next `load`; what lies behind `to - from` bytes means nothing. */
  window: Uint8Array;
  from = 0;
  to = 0;
  private readonly disk: LogDisk;
  private readonly path: string;
  private readonly pieceBytes: number;

  private constructor(disk: LogDisk, path: string, length: number, pieceBytes: number) {
    this.disk = disk;
    this.path = path;
    this.length = length;
    this.pieceBytes = pieceBytes;
    this.window = new Uint8Array(0);
  }

  /** Looks how long a file is; nothing is read yet. @throws the system's error */
  static async open(disk: LogDisk, path: string, pieceBytes: number = SEGMENT_PIECE_BYTES): Promise<SegmentBytes> {
    return new SegmentBytes(disk, path, await disk.size(path), pieceBytes);
  }

  /** Another window on the same file, so that who looks ahead does not move this one. */
  another(): SegmentBytes {
    return new SegmentBytes(this.disk, this.path, this.length, this.pieceBytes);
  }

  /** Whether the window holds bytes `[start, end)` of the file. */
  holds(start: number, end: number): boolean {
    return start >= this.from && end <= this.to;
  }

  /** Bytes `[start, end)`, which the window holds: a view of it. */
  view(start: number, end: number): Uint8Array {
    return this.window.subarray(start - this.from, end - this.from);
  }

  /**
   * Moves the window so that it holds bytes `[start, end)` of the file, those from `keepFrom` on as well, and a piece beyond.
   * `keepFrom <= start <= end <= length`.
   *
   * @throws the system's error; Error when the file has become shorter
   */
  async load(start: number, end: number, keepFrom: number = start): Promise<void> {
    assert(keepFrom <= start && start <= end && end <= this.length, `a range of ${this.length} B; got ${keepFrom}, [${start}, ${end})`);
    const isInside = keepFrom >= this.from && keepFrom <= this.to;
    const keptBytes = isInside ? this.to - keepFrom : 0;
    const bytes = Math.min(Math.max(end - keepFrom, keptBytes + Math.max(this.pieceBytes, start - keepFrom)), this.length - keepFrom);
    const keptAt = keepFrom - this.from;
    const former = this.window;
    if (former.length < bytes) this.window = new Uint8Array(bytes);
    if (keptBytes > 0) this.window.set(former.subarray(keptAt, keptAt + keptBytes)); // Copies right within one array too.
    this.from = keepFrom;
    this.to = keepFrom + keptBytes;
    await this.fill(keepFrom + bytes);
  }

  private async fill(end: number): Promise<void> {
    while (this.to < end) {
      const read = await this.disk.read(this.path, this.view(this.to, end), this.to);
      if (read === 0) throw new Error(`it ends at offset ${this.to}, and had ${this.length} bytes before`);
      this.to += read;
    }
  }
}
