/** JSON text that is made and sent piece by piece. */

/** Bytes of a piece. */
const PIECE_BYTES: number = 64 * 1024;
/** Room behind it for what is added to a piece that is not full yet: a block of points takes 32 KiB. */
const ROOM_BYTES: number = 34 * 1024;
/** Bytes of a character, at most. */
const CHARACTER_BYTES = 3;

const encoder = new TextEncoder();
const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);

/** The text that waits to be sent. */
export class JsonPieces {
  /** What comes behind the bytes. */
  private text: string;
  private bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  private view: DataView = NO_VIEW;
  private length = 0;
  /** Whether there has been a piece. */
  private hasTaken = false;

  constructor(begin: string) {
    this.text = begin;
  }

  /** Whether the piece should be sent. */
  get isFull(): boolean {
    return this.length + this.text.length >= PIECE_BYTES;
  }

  /** Adds a part. */
  add(part: string): void {
    this.text += part;
  }

  /** Adds what `write` writes, which takes an array, its view and a place in it and gives the place behind; at most `byteLength` bytes. */
  addBytes(byteLength: number, write: (out: Uint8Array, view: DataView, at: number) => number): void {
    this.encode();
    this.grow(byteLength);
    this.length = write(this.bytes, this.view, this.length);
  }

  /** What waits, as bytes of the caller's. */
  take(): Uint8Array<ArrayBuffer> {
    this.hasTaken = true;
    if (this.length === 0) {
      const bytes = encoder.encode(this.text);
      this.text = "";
      return bytes;
    }
    this.encode();
    const bytes = this.bytes.subarray(0, this.length);
    this.bytes = NO_BYTES;
    this.view = NO_VIEW;
    this.length = 0;
    return bytes;
  }

  private encode(): void {
    if (this.text === "") return;
    this.grow(this.text.length * CHARACTER_BYTES);
    this.length += encoder.encodeInto(this.text, this.bytes.subarray(this.length)).written;
    this.text = "";
  }

  private grow(byteLength: number): void {
    const needed = this.length + byteLength;
    if (needed <= this.bytes.length) return;
    // Most answers are one short piece: room for a whole one, of which the system makes every page anew, is for those that are longer.
    const isFirst = this.bytes.length === 0;
    const room = this.hasTaken ? PIECE_BYTES + ROOM_BYTES : isFirst ? needed : 2 * needed;
    const bytes = new Uint8Array(Math.max(needed, room));
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}
