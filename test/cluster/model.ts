/**
 * What one writer sent, and what of it must be there.
 *
 * Two kinds of rows, one of each in every request:
 *
 *   appended   table of append mode: batch n has rows n·ROWS … n·ROWS + ROWS - 1, each sent once, or again when no answer came
 *   latest     the last row of a key counts: a key is written again and again with higher versions, at one time
 *
 * A request without an answer may be there or not, and one that was sent again may be there so many times: it is *unclear*. Its rows of
 * append mode are counted apart. Its keys get no new versions, since a copy that is late would be the last one, by right.
 */

/** Rows of append mode in a request. */
export const BATCH_ROWS = 16;
/** Keys that a request writes. */
export const BATCH_KEYS = 4;
/** Keys that a writer goes over again and again. */
const LIVE_KEYS = 32;

/** Rows of append mode that one request sends. */
export interface Batch {
  readonly number: number;
  /** How often it was sent and may have come in; at least 1 once it was sent at all. */
  attempts: number;
  /** Whether a client was told, or saw, that all rows are there. */
  isPromised: boolean;
}

/** A row of which the last version counts. */
export interface Key {
  readonly number: number;
  /** The highest version that was sent; 0: none. */
  sent: number;
  /** The highest that a client was told, or saw, to be there. */
  promised: number;
}

/** What a request holds. */
export interface Request {
  readonly batch: Batch;
  readonly keys: readonly { readonly key: Key; readonly version: number }[];
}

/** What must be there for a query that begins now. */
export interface Floor {
  readonly writer: string;
  /** Numbers of batches from which on this is told. */
  readonly from: number;
  readonly promised: ReadonlySet<number>;
  /** Least versions by number of key. */
  readonly versions: readonly number[];
}

/** See the file header. */
export class WriterModel {
  readonly name: string;
  readonly batches: Batch[] = [];
  readonly keys: Key[] = [];
  /** Numbers of keys that get new versions. */
  private readonly live: number[] = [];
  private turn = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** The next request. It is not sent yet. */
  next(): Request {
    while (this.live.length < LIVE_KEYS) {
      this.live.push(this.keys.length);
      this.keys.push({ number: this.keys.length, sent: 0, promised: 0 });
    }
    const batch = { number: this.batches.length, attempts: 0, isPromised: false };
    this.batches.push(batch);
    const keys = Array.from({ length: BATCH_KEYS }, () => {
      const key = this.keys[this.live[this.turn++ % LIVE_KEYS]!]!;
      return { key, version: key.sent + 1 };
    });
    return { batch, keys };
  }

  /** Before a request goes out, each time. */
  sending({ batch, keys }: Request): void {
    batch.attempts++;
    for (const { key, version } of keys) key.sent = version;
  }

  /** It is known that the last try did not reach anybody. */
  didNotReach({ batch }: Request): void {
    batch.attempts--;
  }

  /** It was acknowledged. */
  acknowledged({ batch, keys }: Request): void {
    batch.isPromised = true;
    for (const { key, version } of keys) key.promised = Math.max(key.promised, version);
  }

  /** A try has no answer. */
  unclear({ keys }: Request): void {
    for (const { key } of keys) {
      const at = this.live.indexOf(key.number);
      if (at >= 0) this.live.splice(at, 1);
    }
  }

  /** What a query that begins now has to find. @param from number of the first batch that is looked at */
  floor(from: number): Floor {
    const promised = this.batches.slice(from).filter(({ isPromised }) => isPromised);
    return {
      writer: this.name,
      from,
      promised: new Set(promised.map(({ number }) => number)),
      versions: this.keys.map((key) => key.promised),
    };
  }
}
