/**
 * Writes of one stream or one large message on their way to the disk: while one is being synced, the next is decoded and queued behind it,
 * so that they share syncs. They are in the log in the order in which they were begun.
 */
import type { Soon } from "../../../base/clock.ts";

/** Most writes on their way. Reason: each holds its rows a second time, and more do not make the disk faster. */
const WRITES_MAX = 8;
/** Bytes of their messages beyond which no other is begun. Reason: as above. */
const BYTES_MAX: number = 8 * 1024 * 1024;

interface Failure {
  readonly thrown: unknown;
}

/** A write whose record is in the log's queue. */
export interface BegunWrite {
  /** Never rejects, so that no failure goes unheard. */
  readonly done: Promise<Failure | undefined>;
}

/**
 * Waits until a write was refused or is in the log's queue: what refuses it before does so in the turn in which it was called.
 *
 * @throws what refused it
 */
export async function begun(writing: Promise<unknown>, soon: Soon): Promise<BegunWrite> {
  let failure: Failure | undefined;
  const done = writing.then(
    () => undefined,
    (thrown: unknown) => {
      failure = { thrown };
      return failure;
    },
  );
  await Promise.race([done, new Promise<void>((resolve) => soon(resolve))]);
  if (failure !== undefined) throw (failure as Failure).thrown;
  return { done };
}

/** See the file header. `end` has to be called, whatever happens. */
export class PendingWrites {
  private readonly pending: { readonly write: BegunWrite; readonly bytes: number }[] = [];
  private bytes = 0;
  private failure: Failure | undefined;
  /** Hears of the first failure. */
  private onFailure: ((failure: Failure) => void) | undefined;

  /** Takes a write; resolves when another may begin. @throws what the first that failed failed with */
  async add(write: BegunWrite, bytes: number): Promise<void> {
    void write.done.then((failure) => this.ended(failure)); // never rejects
    this.pending.push({ write, bytes });
    this.bytes += bytes;
    while (this.pending.length >= WRITES_MAX || this.bytes > BYTES_MAX) await this.first();
    this.throwFailure();
  }

  /** What comes next, unless a write fails while it is waited for. One at a time. @throws that failure, and what `next` rejects with */
  async whileFine<T>(next: Promise<T>): Promise<T> {
    this.throwFailure();
    try {
      return await new Promise<T>((resolve, reject) => {
        this.onFailure = ({ thrown }) => reject(thrown);
        next.then(resolve, reject);
      });
    } finally {
      this.onFailure = undefined;
    }
  }

  /** Resolves when all of them are durable. @throws what the first that failed failed with */
  async end(): Promise<void> {
    while (this.pending.length > 0) await this.first();
    this.throwFailure();
  }

  private async first(): Promise<void> {
    const first = this.pending.shift();
    if (first === undefined) return;
    this.ended(await first.write.done);
    this.bytes -= first.bytes;
  }

  private ended(failure: Failure | undefined): void {
    if (failure === undefined || this.failure !== undefined) return;
    this.failure = failure;
    this.onFailure?.(failure);
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.thrown;
  }
}
