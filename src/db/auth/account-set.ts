/**
 * A fixed set of accounts and the check of names and passwords against it.
 *
 * A derived password (PBKDF2, SCRAM) costs thousands of hashes, so a login that succeeded is remembered by a keyed digest of name and
 * password, and equal logins in flight share one derivation. Every login that fails, of a known name or not, costs the dearest check.
 */
import { createHmac, randomBytes } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { LOGIN_CACHE_ENTRIES_MAX, LOGIN_CHECKS_RUNNING_MAX, LOGIN_CHECKS_WAITING_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { CheckQueue } from "./check-queue.ts";
import type { Account } from "./credential-line.ts";
import type { User } from "./user.ts";
import { costOf, isSlow, matchesPassword } from "./verifier.ts";

/** Key of every digest below; new in each process, never stored. */
const SECRET: Uint8Array = randomBytes(32);

/** One for the process: the thread pool it protects is one too. */
const QUEUE: CheckQueue = new CheckQueue(LOGIN_CHECKS_RUNNING_MAX, LOGIN_CHECKS_WAITING_MAX);

interface Entry extends Account {
  readonly user: User;
}

/** Accounts by name. Owns the memory of logins that succeeded, which ends with the set. */
export class AccountSet {
  private readonly entries: ReadonlyMap<string, Entry>;
  private readonly decoys: readonly Entry[];
  /** One whose check costs the most. */
  private readonly dearest: Entry;
  /** Digests of logins that succeeded, the least recently used first. */
  private readonly succeeded: Set<string> = new Set();
  /** Derivations that run or wait, by digest. */
  private readonly inFlight: Map<string, Promise<boolean>> = new Map();

  /** Of two accounts with one name the last counts. @param accounts at least one */
  constructor(accounts: readonly Account[]) {
    assert(accounts.length > 0, "an account set holds an account; got none");
    this.entries = new Map(accounts.map((account) => [account.name, { ...account, user: { name: account.name, mode: account.mode } }]));
    this.decoys = [...this.entries.values()];
    const [first, ...rest] = this.decoys;
    assert(first !== undefined, "an account set holds an entry; got none");
    this.dearest = rest.reduce((most, entry) => (costOf(entry.verifier) > costOf(most.verifier) ? entry : most), first);
  }

  /** Number of accounts. */
  get size(): number {
    return this.entries.size;
  }

  /**
   * @throws DbError InvalidArguments (blank name or password), UserPasswordMismatch (unknown name or wrong password), RateLimited (too many
   *   logins wait)
   */
  async authenticate(name: string, password: string): Promise<User> {
    if (name === "") throw new DbError(StatusCode.InvalidArguments, "Illegal param: blank username");
    if (password === "") throw new DbError(StatusCode.InvalidArguments, "Illegal param: blank password");
    const decoy = this.decoyOf(name); // before the look-up, so that known and unknown names cost the same
    const login = `${Buffer.byteLength(name)}:${name}${password}`;
    const digest = createHmac("sha256", SECRET).update(login).digest("base64");
    const entry = this.entries.get(name);
    const checked = entry ?? decoy;
    const matches = await this.check(checked, digest, password, entry !== undefined);
    // What fails costs the dearest check of all, whichever account it was about: a quick answer would tell of a plain password.
    const { dearest } = this;
    if (!(matches && entry !== undefined) && costOf(dearest.verifier) > costOf(checked.verifier))
      await this.check(dearest, `${digest} again`, password, false);
    // One answer for both, after the same work: who guesses learns no names (README 21).
    if (entry === undefined || !matches)
      throw new DbError(StatusCode.UserPasswordMismatch, `Username and password does not match, username: ${name}`);
    return entry.user;
  }

  /** The account that an unknown name is checked against: always the same one for a name, so that the name looks like any other. */
  private decoyOf(name: string): Entry {
    const digest = createHmac("sha256", SECRET).update(name).digest();
    const decoy = this.decoys[digest.readUInt32LE(0) % this.decoys.length];
    assert(decoy !== undefined, "an index modulo the number of accounts is inside; got outside");
    return decoy;
  }

  private async check(entry: Entry, digest: string, password: string, isKnown: boolean): Promise<boolean> {
    if (!isSlow(entry.verifier)) return matchesPassword(entry.verifier, password, SECRET);
    if (this.succeeded.delete(digest)) {
      this.succeeded.add(digest); // moves to the end: most recently used
      return true;
    }
    const running = this.inFlight.get(digest);
    if (running !== undefined) return running;
    const derivation = QUEUE.run(() => matchesPassword(entry.verifier, password, SECRET));
    this.inFlight.set(digest, derivation);
    try {
      const matches = await derivation;
      if (matches && isKnown) this.remember(digest);
      return matches;
    } finally {
      this.inFlight.delete(digest);
    }
  }

  private remember(digest: string): void {
    this.succeeded.add(digest);
    for (const oldest of this.succeeded) {
      if (this.succeeded.size <= LOGIN_CACHE_ENTRIES_MAX) break;
      this.succeeded.delete(oldest);
    }
  }
}
