/**
 * Tables that wait to be looked at: which comes next, and when.
 *
 * A table is due at once, unless its last look failed (then 1 s later, twice as long after each failure, 5 min at most) or it waits for
 * something until a moment of its own. Times are monotonic milliseconds.
 */
const RETRY_MILLIS_MIN = 1000;
const RETRY_MILLIS_MAX = 300_000;

interface Failure {
  /** How long it waits. */
  readonly millis: number;
  readonly retryAt: number;
}

/** See the file header. Bounded by the number of tables. */
export class DueTables<Table> {
  private readonly due: Set<Table> = new Set();
  private readonly failures: Map<Table, Failure> = new Map();
  private readonly waiting: Map<Table, number> = new Map();

  /** A table is to be looked at, whatever it waits for; one that failed keeps its time. */
  add(table: Table): void {
    this.due.add(table);
    this.waiting.delete(table);
  }

  /** Takes the first table that is due, or undefined. */
  take(now: number): Table | undefined {
    for (const table of this.due) {
      if (this.dueAt(table) > now) continue;
      this.due.delete(table);
      this.waiting.delete(table);
      return table;
    }
    return undefined;
  }

  /** A table that was taken waits until a moment, unless it is added before. */
  wait(table: Table, until: number): void {
    this.due.add(table);
    this.waiting.set(table, until);
  }

  /** A look at a table failed. Returns after how many milliseconds it is taken again. */
  failed(table: Table, now: number): number {
    const millis = Math.min(RETRY_MILLIS_MAX, (this.failures.get(table)?.millis ?? RETRY_MILLIS_MIN / 2) * 2);
    this.failures.set(table, { millis, retryAt: now + millis });
    this.due.add(table);
    return millis;
  }

  /** A look at a table did not fail. Returns whether no table's last look has. */
  worked(table: Table): boolean {
    this.failures.delete(table);
    return this.failures.size === 0;
  }

  /** When the next table is due; undefined: there is none. */
  nextAt(): number | undefined {
    let first: number | undefined;
    for (const table of this.due) first = Math.min(first ?? Number.POSITIVE_INFINITY, this.dueAt(table));
    return first;
  }

  private dueAt(table: Table): number {
    return Math.max(this.failures.get(table)?.retryAt ?? 0, this.waiting.get(table) ?? 0);
  }
}
