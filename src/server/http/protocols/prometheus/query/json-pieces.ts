/** JSON text that is made and sent piece by piece. */

/** Characters of a piece. */
const PIECE_CHARACTERS: number = 64 * 1024;

const encoder = new TextEncoder();

/** The text that waits to be sent. */
export class JsonPieces {
  private text: string;

  constructor(begin: string) {
    this.text = begin;
  }

  /** Whether the piece should be sent. */
  get isFull(): boolean {
    return this.text.length >= PIECE_CHARACTERS;
  }

  /** Adds a part. */
  add(part: string): void {
    this.text += part;
  }

  /** What waits, as bytes of the caller's. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = encoder.encode(this.text);
    this.text = "";
    return bytes;
  }
}
