/**
 * Questions whose answer must be of a moment after they were asked, asked once for all who wait: who comes while one is under way shares
 * the next one, since the one under way may have been answered already.
 *
 *   a ─► asked ────────► answer of a
 *           b, c, d ───────┴─► asked ─► answer of b, c and d
 */

interface Asked<A> {
  readonly running: Promise<A>;
  /** What those share who came since. */
  next: Promise<A> | undefined;
}

/** See the file header. At most two are under way for a key. */
export class SharedQuestions<K, A> {
  private readonly put: (key: K) => Promise<A>;
  private readonly asked: Map<K, Asked<A>> = new Map();

  /** @param put asks */
  constructor(put: (key: K) => Promise<A>) {
    this.put = put;
  }

  /** The answer as of a moment after this call. @throws what asking throws */
  ask(key: K): Promise<A> {
    const current = this.asked.get(key);
    if (current === undefined) return this.begin(key);
    current.next ??= current.running.then(
      () => this.begin(key),
      () => this.begin(key),
    );
    return current.next;
  }

  private begin(key: K): Promise<A> {
    const running = this.put(key);
    const own: Asked<A> = { running, next: undefined };
    this.asked.set(key, own);
    const over = (): void => {
      if (this.asked.get(key) === own && own.next === undefined) this.asked.delete(key);
    };
    running.then(over, over);
    return running;
  }
}
