/**
 * What a client may come back to without a connection: prepared statements and sessions, by random names that nobody can guess.
 *
 * One belongs to the user who made it; to others it is as if it were not there. It ends when it is closed, or when nobody has used it for
 * a time. How many there are is limited, a user and all together, and so is what they hold: the memory is counted by whoever keeps them.
 */
import { randomBytes } from "node:crypto";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Bytes of a name: as many as a key has. */
export const HANDLE_BYTES = 16;

/** Limits of one kind of handles. */
export interface HandleLimits {
  /** What they stand for, in messages: "prepared statement". */
  readonly noun: string;
  readonly perUserMax: number;
  readonly ofAllMax: number;
  readonly idleMillis: number;
}

interface Kept<V> {
  readonly user: string;
  readonly value: V;
  usedMillis: number;
}

/** See the file header. Kept in the order of their last use, the oldest first. */
export class Handles<V> {
  private readonly limits: HandleLimits;
  private readonly now: () => number;
  private readonly onEnd: (value: V) => void;
  private readonly kept: Map<string, Kept<V>> = new Map();
  private readonly countOf: Map<string, number> = new Map();
  /** Set while anything is kept: what is idle goes though nobody comes, after twice its time at the latest. */
  private sweeping: ReturnType<typeof setTimeout> | undefined;

  /** @param now monotonic milliseconds @param onEnd gives back what a value holds */
  constructor(limits: HandleLimits, now: () => number, onEnd: (value: V) => void) {
    this.limits = limits;
    this.now = now;
    this.onEnd = onEnd;
  }

  get size(): number {
    return this.kept.size;
  }

  /** Whether one more may be kept. @throws DbError RuntimeResourcesExhausted */
  checkRoom(user: string): void {
    this.sweep();
    const { noun, perUserMax, ofAllMax } = this.limits;
    const ofUser = this.countOf.get(user) ?? 0;
    if (ofUser < perUserMax && this.kept.size < ofAllMax) return;
    const most = ofUser >= perUserMax ? `a user has ${perUserMax} at most` : `all users together have ${ofAllMax} at most`;
    throw new DbError(StatusCode.RuntimeResourcesExhausted, `cannot keep one more ${noun}: ${most}; close some`);
  }

  /** Keeps a value and gives its name. @throws DbError RuntimeResourcesExhausted */
  add(user: string, value: V): Uint8Array<ArrayBuffer> {
    const handle = new Uint8Array(randomBytes(HANDLE_BYTES));
    this.addAs(user, handle, value);
    return handle;
  }

  /** Keeps a value under a name that nobody else can know, in place of what is there. @throws DbError RuntimeResourcesExhausted */
  addAs(user: string, handle: Uint8Array, value: V): void {
    this.close(user, handle);
    this.checkRoom(user);
    this.kept.set(handle.toHex(), { user, value, usedMillis: this.now() });
    this.countOf.set(user, (this.countOf.get(user) ?? 0) + 1);
    this.sweepLater();
  }

  /** What a user keeps under a name, which is used by that. @throws DbError InvalidArguments */
  get(user: string, handle: Uint8Array): V {
    const found = this.find(user, handle);
    if (found !== undefined) return found;
    const { noun, idleMillis } = this.limits;
    const why = `it was closed, has not been used for ${idleMillis / 60_000} minutes, belongs to somebody else, or is of another server`;
    throw new DbError(StatusCode.InvalidArguments, `there is no ${noun} of this handle: ${why}`);
  }

  /** The same, or undefined. */
  find(user: string, handle: Uint8Array): V | undefined {
    this.sweep();
    if (handle.length !== HANDLE_BYTES) return undefined;
    const key = handle.toHex();
    const kept = this.kept.get(key);
    if (kept === undefined || kept.user !== user) return undefined;
    kept.usedMillis = this.now();
    this.kept.delete(key);
    this.kept.set(key, kept);
    return kept.value;
  }

  /** Lets one go; false when the user has none of that name. */
  close(user: string, handle: Uint8Array): boolean {
    const key = handle.toHex();
    const kept = this.kept.get(key);
    if (kept === undefined || kept.user !== user) return false;
    this.end(key, kept);
    return true;
  }

  /** Lets all go. */
  clear(): void {
    for (const [key, kept] of this.kept) this.end(key, kept);
  }

  /** Lets go of those that nobody has used for long. */
  private sweep(): void {
    const before = this.now() - this.limits.idleMillis;
    for (const [key, kept] of this.kept) {
      if (kept.usedMillis > before) return;
      this.end(key, kept);
    }
  }

  private sweepLater(): void {
    this.sweeping ??= setTimeout(() => {
      this.sweeping = undefined;
      this.sweep();
      if (this.kept.size > 0) this.sweepLater();
    }, this.limits.idleMillis).unref();
  }

  private end(key: string, { user, value }: Kept<V>): void {
    this.kept.delete(key);
    const left = (this.countOf.get(user) ?? 1) - 1;
    if (left === 0) this.countOf.delete(user);
    else this.countOf.set(user, left);
    if (this.kept.size === 0) {
      clearTimeout(this.sweeping);
      this.sweeping = undefined;
    }
    this.onEnd(value);
  }
}
