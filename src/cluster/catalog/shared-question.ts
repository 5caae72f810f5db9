/**
 * A question that many ask: those who come while one is under way share the next, since the answer to the one under way may be of a moment
 * before they came.
 *
 *   a ─► asked ────────► answer to a
 *        b, c ─► wait ─► asked ────────► answer to b and c
 */

/** See the file header. At most one is under way and one waits, however many ask. */
export class SharedQuestion<T> {
  private readonly ask: () => Promise<T>;
  private asked: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.ask = ask;
  }

  /** Asks from now on or later. @throws what the question fails with */
  answer(): Promise<T> {
    if (this.next !== undefined) return this.next;
    if (this.asked === undefined) return this.begin();
    this.next = this.asked.then(
      () => this.begin(),
      () => this.begin(),
    );
    return this.next;
  }

  private begin(): Promise<T> {
    this.next = undefined;
    const asked = this.ask();
    this.asked = asked;
    const end = (): void => {
      if (this.asked === asked) this.asked = undefined;
    };
    asked.then(end, end);
    return asked;
  }
}
