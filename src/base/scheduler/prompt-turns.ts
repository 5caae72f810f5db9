/** Work that must not overlap, as `Turns`; where none is under way it begins at once, and what is done at once is answered at once. */

/** See the file header. */
export class PromptTurns {
  /** Ends with the last work that was asked for; undefined while none is under way. Never rejects. */
  private last: Promise<unknown> | undefined;

  /**
   * Runs `work` once all that was asked for before has ended, well or not. Who asks within work that runs waits for itself.
   *
   * @throws what `work` throws, at once or as a rejection
   */
  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    const made = this.last === undefined ? work() : this.last.then(work);
    if (!(made instanceof Promise)) return made;
    const last: Promise<unknown> = Promise.allSettled([made]).then(() => {
      if (this.last === last) this.last = undefined;
    });
    this.last = last;
    return made;
  }
}
