/**
 * Bounds the bytes of request bodies that are being worked on (contract http.md 6.3), counted by Content-Length.
 */

/** Permits for bytes. Waiters are served in the order they came, so that a large request is not passed by small ones for ever. */
export class InFlightBytes {
  private readonly bytesMax: number;
  private readonly waitMs: number;
  private used = 0;
  private readonly waiters: { readonly bytes: number; readonly admit: (admitted: boolean) => void }[] = [];

  /** @param bytesMax 0 = unlimited */
  constructor(bytesMax: number, waitMs: number) {
    this.bytesMax = bytesMax;
    this.waitMs = waitMs;
  }

  /** Waits for room; false when there was none in time or there can be none. Every `true` needs one `release`. */
  async acquire(bytes: number): Promise<boolean> {
    if (this.bytesMax === 0) return true;
    if (bytes > this.bytesMax) return false;
    if (this.waiters.length === 0 && this.used + bytes <= this.bytesMax) {
      this.used += bytes;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { bytes, admit: resolve };
    this.waiters.push(waiter);
    const timer = setTimeout(() => {
      const index = this.waiters.indexOf(waiter);
      if (index >= 0) this.waiters.splice(index, 1);
      resolve(false);
      this.admitWaiters();
    }, this.waitMs);
    const admitted = await promise;
    clearTimeout(timer);
    return admitted;
  }

  /** Gives back what `acquire` took. */
  release(bytes: number): void {
    if (this.bytesMax === 0) return;
    this.used -= bytes;
    this.admitWaiters();
  }

  private admitWaiters(): void {
    for (let next = this.waiters[0]; next !== undefined && this.used + next.bytes <= this.bytesMax; next = this.waiters[0]) {
      this.waiters.shift();
      this.used += next.bytes;
      next.admit(true);
    }
  }
}
