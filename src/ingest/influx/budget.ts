/**
 * Counts the bytes of columns that a decoder holds, so that a small body cannot unfold to more memory than the server has.
 */
export class Budget {
  /** Bytes held now. */
  used = 0;
  /** Field names held now, over all measurements. */
  names = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Takes `bytes` and returns true, or takes nothing and returns false when that would exceed the limit. */
  take(bytes: number): boolean {
    if (this.used + bytes > this.bytesMax) return false;
    this.used += bytes;
    return true;
  }

  /** Takes `bytes` even when that exceeds the limit: for what is small beside the memory already taken. */
  charge(bytes: number): void {
    this.used += bytes;
  }

  /** Gives back bytes that were taken. */
  release(bytes: number): void {
    this.used -= bytes;
  }

  /** Forgets everything that was taken. */
  reset(): void {
    this.used = 0;
    this.names = 0;
  }
}
