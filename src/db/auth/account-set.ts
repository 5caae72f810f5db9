/**
 * A fixed set of accounts and the check of names and passwords against it.
 *
 * A derived password (PBKDF2, SCRAM) costs thousands of hashes, so a login that succeeded is remembered by a keyed digest of name and
 * password, and equal logins in flight share one derivation. Every login that fails, of a known name or not, costs the dearest check.
 */
import { createHmac, randomBytes } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { LOGIN_CACHE_ENTRIES_MAX, LOGIN_CHECKS_RUNNING_MAX, LOGIN_CHECKS_WAITING_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { CheckQueue } from "./check-queue.ts";
import type { Account } from "./credential-line.ts";
import type { ScramSecret, User } from "./user.ts";
import { costOf, isSlow, matchesMd5, matchesMysqlNative, matchesMysqlSha2, matchesPassword, scramSha256 } from "./verifier.ts";

/** Key of every digest below; new in each process, never stored. */
const SECRET: Uint8Array = randomBytes(32);

/** One for the process: the thread pool it protects is one too. */
const QUEUE: CheckQueue = new CheckQueue(LOGIN_CHECKS_RUNNING_MAX, LOGIN_CHECKS_WAITING_MAX);

/** What SCRAM takes for passwords that are stored plain: as PostgreSQL does. */
const SCRAM_ITERATIONS = 4096;
const SCRAM_SALT_BYTES = 16;

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
    if (name === "") throw invalidArguments("Illegal param: blank username");
    if (password === "") throw invalidArguments("Illegal param: blank password");
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

  /** Whether all accounts can be checked by SCRAM. */
  get offersScram(): boolean {
    return this.decoys.every(({ verifier }) => verifier.kind === "plain" || verifier.kind === "pg_scram_sha256");
  }

  /** As `UserProvider.scramSecret`. The salt of a plain password hangs on its name and the process, as that of an unknown name does. */
  async scramSecret(name: string): Promise<ScramSecret> {
    const decoy = this.decoyOf(name);
    const entry = this.entries.get(name);
    const { verifier } = entry ?? decoy;
    const { user } = entry ?? { user: undefined };
    const saltOf = (length: number): Uint8Array => saltFor(name, length);
    if (verifier.kind === "pg_scram_sha256") {
      if (entry !== undefined) return { ...verifier, user };
      const { iterations, storedKey, serverKey } = verifier;
      return { iterations, salt: saltOf(verifier.salt.length), storedKey, serverKey, user };
    }
    // Of another kind is nobody where SCRAM is offered; a file that changed in between gives what nothing answers.
    const password =
      entry === undefined || verifier.kind !== "plain" ? Buffer.from(saltOf(SCRAM_SALT_BYTES)).toString("hex") : verifier.password;
    const made = await QUEUE.run(() => scramSha256(password, SCRAM_ITERATIONS, saltOf(SCRAM_SALT_BYTES)));
    return { ...made, user: verifier.kind === "plain" ? user : undefined };
  }

  /** As `UserProvider.authenticateMd5`. */
  authenticateMd5(name: string, salt: Uint8Array, answer: string): User {
    const decoy = this.decoyOf(name);
    const entry = this.entries.get(name);
    const matches = matchesMd5((entry ?? decoy).verifier, name, salt, answer);
    if (entry === undefined || !matches)
      throw new DbError(StatusCode.UserPasswordMismatch, `Username and password does not match, username: ${name}`);
    return entry.user;
  }

  /** Whether all accounts can be checked by mysql_native_password. */
  get offersMysqlNative(): boolean {
    return this.decoys.every(({ verifier }) => verifier.kind === "plain" || verifier.kind === "mysql_native_password");
  }

  /** Whether all accounts can be checked by caching_sha2_password. */
  get offersMysqlSha2(): boolean {
    return this.decoys.every(({ verifier }) => verifier.kind !== "mysql_native_password");
  }

  /** As `UserProvider.authenticateMysqlNative`. */
  authenticateMysqlNative(name: string, scramble: Uint8Array, proof: Uint8Array): User {
    const decoy = this.decoyOf(name);
    const entry = this.entries.get(name);
    const matches = matchesMysqlNative((entry ?? decoy).verifier, scramble, proof);
    if (entry === undefined || !matches)
      throw new DbError(StatusCode.UserPasswordMismatch, `Username and password does not match, username: ${name}`);
    return entry.user;
  }

  /** As `UserProvider.mysqlSha2User`. */
  mysqlSha2User(name: string, scramble: Uint8Array, proof: Uint8Array): User | undefined {
    const decoy = this.decoyOf(name);
    const entry = this.entries.get(name);
    const matches = matchesMysqlSha2((entry ?? decoy).verifier, scramble, proof);
    return matches ? entry?.user : undefined;
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

/** A salt that hangs on a name and this process alone. */
function saltFor(name: string, length: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let made = 0, i = 0; made < length; made += 32, i++) parts.push(createHmac("sha256", SECRET).update(`salt ${i} ${name}`).digest());
  return Buffer.concat(parts).subarray(0, length);
}
