/** Those who wait until a log was taken up to a number. */

interface Waiting {
  readonly least: number;
  readonly resolve: () => void;
  readonly reject: (why: Error) => void;
}

/** See the file header. */
export class Reached {
  private readonly waiting: Set<Waiting> = new Set();
  private at: number;
  private failure: Error | undefined;

  constructor(at: number) {
    this.at = at;
  }

  /** Resolves when it was taken up to `least`. @throws what `fail` was called with */
  wait(least: number): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (least <= this.at) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.waiting.add({ least, resolve, reject });
    return promise;
  }

  /** Says that it was taken up to a number. */
  taken(number: number): void {
    this.at = number;
    for (const one of this.waiting) {
      if (one.least > number) continue;
      this.waiting.delete(one);
      one.resolve();
    }
  }

  /** Says that no more of it is taken: all who wait, and who come later, fail. */
  fail(why: Error): void {
    this.failure ??= why;
    for (const { reject } of this.waiting) reject(this.failure);
    this.waiting.clear();
  }
}
