import type { OpenFile } from "../../../table/file-access.ts";

/** Bytes of a file, read forwards: what was read and not yet passed stays, so that no byte is read twice. */
export class ByteWindow {
  private readonly file: OpenFile;
  private readonly pieceBytes: number;
  private readonly end: number;
  private bytes: Uint8Array = new Uint8Array(0);
  /** Where `bytes` begin in the file. */
  private start: number;

  /** @param pieceBytes that are read at a time, at least @param start @param end of what may be read */
  constructor(file: OpenFile, pieceBytes: number, start: number, end: number) {
    this.file = file;
    this.pieceBytes = pieceBytes;
    this.start = start;
    this.end = end;
  }

  /** What is there from `at` on, without reading: valid until the next `take`. */
  peek(at: number): Uint8Array {
    return this.bytes.subarray(Math.max(0, at - this.start));
  }

  /** Bytes `[at, at + length)`, which lie before the end; `at` never goes back. Valid until the next call. @throws DbError */
  async take(at: number, length: number): Promise<Uint8Array> {
    const from = at - this.start;
    if (from + length <= this.bytes.length) return this.bytes.subarray(from, from + length);
    const kept = this.bytes.subarray(Math.min(from, this.bytes.length));
    const next = at + kept.length;
    const more = await this.file.read(next, Math.min(this.end - next, Math.max(length - kept.length, this.pieceBytes)));
    const joined = new Uint8Array(kept.length + more.length);
    joined.set(kept);
    joined.set(more, kept.length);
    this.bytes = joined;
    this.start = at;
    return joined.subarray(0, length);
  }
}
