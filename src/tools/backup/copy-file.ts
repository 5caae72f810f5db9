/** Copies pieces and says what they were: length, SHA-256 and CRC-32 in one pass. */
import { crc32 } from "../../base/bytes/hash.ts";

/** What went through. */
export interface PieceSums {
  readonly byteLength: number;
  readonly sha256: string;
  readonly crc: number;
}

/** Pieces that are summed as somebody takes them. */
export class SummedPieces implements AsyncIterable<Uint8Array> {
  private readonly pieces: AsyncIterable<Uint8Array>;
  private readonly onPiece: (byteLength: number) => void;
  private readonly hasher = new Bun.CryptoHasher("sha256");
  private crc = 0;
  private byteLength = 0;

  /** @param onPiece hears of each piece's length, and may throw to end the copy */
  constructor(pieces: AsyncIterable<Uint8Array>, onPiece: (byteLength: number) => void) {
    this.pieces = pieces;
    this.onPiece = onPiece;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of this.pieces) {
      this.onPiece(piece.length);
      this.hasher.update(piece);
      this.crc = crc32(piece, this.crc);
      this.byteLength += piece.length;
      yield piece;
    }
  }

  /** Of all pieces; call it once, when they were taken. */
  sums(): PieceSums {
    return { byteLength: this.byteLength, sha256: this.hasher.digest("hex"), crc: this.crc };
  }

  /** Takes all pieces for nothing but their sums. */
  async drained(): Promise<PieceSums> {
    let taken = 0;
    for await (const piece of this) taken += piece.length;
    const sums = this.sums();
    if (taken !== sums.byteLength) throw new Error(`${taken} bytes were taken of ${sums.byteLength}`);
    return sums;
  }
}

/** Runs `work` for each item, so many at once; ends with the first failure, once those under way have ended. */
export async function eachAtOnce<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const run = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, run));
  if (failure !== undefined) throw failure.error;
}
