/** Those who wait until the catalogue has come to a version. */
import { waitWithin } from "../../base/scheduler/wait-within.ts";

interface Waiter {
  readonly version: number;
  readonly resolve: () => void;
  readonly reject: (why: Error) => void;
}

/** See the file header. */
export class VersionWaiters {
  private readonly waiters: Set<Waiter> = new Set();

  /** Resolves when `reached` has said the version. @throws DbError Cancelled when the signal fires; what `end` says */
  async wait(version: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { version, resolve, reject };
    this.waiters.add(waiter);
    try {
      await waitWithin(promise, { signal });
    } finally {
      this.waiters.delete(waiter);
    }
  }

  reached(version: number): void {
    for (const waiter of this.waiters) if (waiter.version <= version) waiter.resolve();
  }

  end(why: Error): void {
    for (const { reject } of this.waiters) reject(why);
  }
}
