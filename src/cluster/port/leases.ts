/**
 * Names that one holder has at a time, for `ttlMillis` after its last word, by the clock of the servers.
 *
 * A lease is no lock: a holder that was stopped, or cut off, believes in it longer than the servers do. It says who should work on
 * something; what protects the work is the fence of its list (`Ordered`). Ending early is safe, so `endsAtMillis` is early.
 *
 *        take ─► held ──renew──► held ──renew──► held ──(ttlMillis without one)──► free ─► take
 *                  └─release──► free
 *
 * A renewal without an answer is not lost: the next one finds out.
 */
import type { CallOptions } from "./message.ts";

/**
 * `lease.<s>` of a shard's owner, `node.<id>` and `frontend.<id>` of one that lives. What follows the point is `A-Z a-z 0-9 _ -`, 1 to 64
 * of them.
 */
export type LeaseName = `lease.${string}` | `node.${string}` | `frontend.${string}`;

/** One that this port holds, as far as it knows. */
export interface Lease {
  readonly name: LeaseName;
  /** Of the message that holds it: rises with each renewal. */
  readonly number: number;
  /** By this process's `clock.monotonicMillis`: the servers let it end at this time or later, if both clocks run alike. */
  readonly endsAtMillis: number;
}

/** Who holds one. */
export interface LeaseState {
  /** Identity of the holder's port (`ClusterPort.identity`). */
  readonly holder: string;
  readonly value: string;
  readonly number: number;
}

/** What a watcher is told. */
export interface LeaseChanges {
  /** All that are held now; valid until the next ones are asked for. */
  readonly leases: ReadonlyMap<string, LeaseState>;
  /** Names that were taken, changed hands or value, or are free now, since the last time; at first all that are held. */
  readonly changed: ReadonlySet<string>;
}

/** See the file header. */
export interface Leases {
  /** Whole seconds, at least 1 s. */
  readonly ttlMillis: number;

  /**
   * Takes a lease that nobody holds, or that this port holds already (an answer was lost).
   *
   * @param value at most `LEASE_VALUE_BYTES_MAX` bytes
   * @returns "held": another has it
   * @throws PortError unavailable, unknown (take it again, or let it end), too-large, full, vanished, denied, cancelled, closed
   */
  take(name: LeaseName, value: string, options?: CallOptions): Promise<Lease | "held">;

  /**
   * Holds it for `ttlMillis` from now on, with a new value. One call a lease at a time.
   *
   * @returns "lost": it ended, or another has it. It may be taken again
   * @throws PortError as `take`; the lease may have been renewed, and the next `renew` of the same `Lease` finds out
   */
  renew(lease: Lease, value: string, options?: CallOptions): Promise<Lease | "lost">;

  /**
   * Ends it at once, for who hands over. Of one that is lost nothing happens.
   *
   * @throws PortError as `take`: it ends by itself
   */
  release(lease: Lease, options?: CallOptions): Promise<void>;

  /**
   * All leases, and what becomes of them: at first at once, then after each change. Changes in quick succession are told together; one that
   * is renewed with the same value is none. Goes on by itself after lost connections; while there is none nothing is told, and what was
   * told last may be old. Ends quietly when its signal fires.
   *
   * @throws PortError vanished, denied, closed
   */
  watch(options?: CallOptions): AsyncIterable<LeaseChanges>;
}
