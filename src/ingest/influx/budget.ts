/**
 * Counts the bytes of columns that a decoder holds, so that a small body cannot unfold to more memory than the server has.
 */
export class Budget {
  /** Bytes held now. */
  used = 0;
  /** Field names held now, over all measurements. */
  names = 0;
  /** Those of them that the request under way brought. */
  newNames = 0;
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

  /** Counts a field name that is held from now on. */
  addName(): void {
    this.names++;
    this.newNames++;
  }

  /** Forgets everything that was taken. */
  reset(): void {
    this.used = 0;
    this.names = 0;
    this.newNames = 0;
  }
}
