/** Work that must not overlap: one piece after the other, in the order in which it was asked for. */

/** See the file header. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs `work` once all that was asked for before has ended, well or not; the caller gets what it answers or throws. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.last.then(work);
    this.last = run.then(ended, ended); // The caller sees the error; the next one runs anyway.
    return run;
  }
}

function ended(): void {
  // Whoever asked has the outcome.
}
