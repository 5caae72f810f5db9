/**
 * An account file that may change while the server runs. It is read again when the operator asks (SIGHUP), and where it is watched by
 * itself: the folder is watched (a replaced file is a new inode, so a watch on it would go blind), and the file is read every few seconds
 * besides, for file systems and symbolic links whose changes no event tells. A file that is missing, unreadable or without a valid line
 * leaves the last good accounts in force. Source: contract http.md 5.1.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Logger } from "../../base/log.ts";
import { AccountSet } from "./account-set.ts";
import { logSkippedLines, parseUserFile, readUserFile, rereadUserFile } from "./user-file.ts";
import type { ScramSecret, User, AccountProvider } from "./user.ts";

/** Pause between the last event and the reading: writers often touch a file several times. */
const SETTLE_MS = 20;

/** Time between two readings without an event. */
const POLL_MS_DEFAULT = 2000;

/** How a file is read again. */
export interface AccountFileOptions {
  /** False: only when it is asked. Default: true. */
  readonly isWatched?: boolean;
  readonly pollMs?: number;
}

/** A provider over a file. Invariant: `accounts` holds what `bytes` says. Close it to stop the watch. */
export class AccountFile implements AccountProvider {
  private readonly path: string;
  private readonly folder: string;
  private readonly logger: Logger;
  private readonly isWatched: boolean;
  private readonly poll: ReturnType<typeof setInterval> | undefined;
  private accounts: AccountSet;
  private bytes: Uint8Array;
  private watcher: FSWatcher | undefined;
  private watchedInode: bigint | undefined;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private reading: Promise<boolean> = Promise.resolve(true);
  /** Readings that have not begun: one is enough, whoever asks. */
  private isWaiting = false;
  private isClosed = false;
  /** Why the file could not be used at the last reading; said once, not at every reading. */
  private problem: string | undefined;

  private constructor(path: string, logger: Logger, accounts: AccountSet, bytes: Uint8Array, options: AccountFileOptions) {
    const { isWatched = true, pollMs = POLL_MS_DEFAULT } = options;
    this.path = path;
    this.folder = dirname(resolve(path));
    this.logger = logger;
    this.accounts = accounts;
    this.bytes = bytes;
    this.isWatched = isWatched;
    if (!isWatched) return;
    this.poll = setInterval(() => this.onPoll(), pollMs);
    this.poll.unref();
    this.watchFolder();
  }

  /** Reads the file and starts to watch it. @throws DbError as `readUserFile` */
  static open(path: string, logger: Logger, options: AccountFileOptions = {}): AccountFile {
    const { bytes, accounts } = readUserFile(path, logger);
    return new AccountFile(path, logger, new AccountSet(accounts), bytes, options);
  }

  authenticate(name: string, password: string): Promise<User> {
    return this.accounts.authenticate(name, password);
  }

  get offersScram(): boolean {
    return this.accounts.offersScram;
  }

  scramSecret(name: string): Promise<ScramSecret> {
    return this.accounts.scramSecret(name);
  }

  async authenticateMd5(name: string, salt: Uint8Array, answer: string): Promise<User> {
    return this.accounts.authenticateMd5(name, salt, answer);
  }

  get offersMysqlNative(): boolean {
    return this.accounts.offersMysqlNative;
  }

  get offersMysqlSha2(): boolean {
    return this.accounts.offersMysqlSha2;
  }

  async authenticateMysqlNative(name: string, scramble: Uint8Array, proof: Uint8Array): Promise<User> {
    return this.accounts.authenticateMysqlNative(name, scramble, proof);
  }

  async mysqlSha2User(name: string, scramble: Uint8Array, proof: Uint8Array): Promise<User | undefined> {
    return this.accounts.mysqlSha2User(name, scramble, proof);
  }

  describe(): string {
    return this.isWatched ? `watch_file_user_provider:${this.path}` : `static_user_provider:file:${this.path}`;
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.poll);
    clearTimeout(this.settle);
    this.watcher?.close();
    this.watcher = undefined;
  }

  /** Watches the folder unless that is done already; a folder that was replaced is watched anew. */
  private watchFolder(): void {
    const inode = statSync(this.folder, { throwIfNoEntry: false, bigint: true })?.ino;
    if (inode !== undefined && inode === this.watchedInode && this.watcher !== undefined) return;
    this.watcher?.close();
    this.watcher = undefined;
    if (inode === undefined) return; // the folder is gone; the next poll looks again
    try {
      this.watcher = watch(this.folder, { persistent: false }, () => this.onEvent());
      this.watcher.on("error", (error) => {
        this.logger.debug({ path: this.path, reason: error.message }, "lost the watch on the account file's folder");
        this.watcher?.close();
        this.watcher = undefined;
      });
      this.watchedInode = inode;
    } catch (thrown) {
      // Out of watches, or a file system without them: the poll does the work alone.
      this.logger.debug({ path: this.path, reason: String(thrown) }, "cannot watch the account file's folder");
    }
  }

  private onEvent(): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.read(), SETTLE_MS);
    this.settle.unref();
  }

  private onPoll(): void {
    this.watchFolder();
    this.read();
  }

  /** Reads the file, and says what it finds whatever it said before. */
  reload(): Promise<boolean> {
    this.problem = undefined;
    return this.queued(true);
  }

  /** Starts a reading. */
  private read(): void {
    void this.queued(false); // Nobody waits for it: it reports through the log and never rejects but for a bug.
  }

  /** A reading after the one that runs. @param isAsked the operator waits for a word */
  private queued(isAsked: boolean): Promise<boolean> {
    if (this.isClosed || (this.isWaiting && !isAsked)) return this.reading;
    this.isWaiting = true;
    this.reading = this.reading.then(() => {
      this.isWaiting = false;
      return this.look(isAsked);
    });
    return this.reading;
  }

  private async look(isAsked: boolean): Promise<boolean> {
    const read = await rereadUserFile(this.path);
    if (this.isClosed) return true;
    if (!read.ok) return this.keep(read.reason);
    if (Buffer.compare(read.value, this.bytes) === 0) {
      this.problem = undefined;
      if (isAsked) this.logger.info({ path: this.path, accounts: this.accounts.size }, "the account file is as it was");
      return true;
    }
    const file = parseUserFile(read.value);
    if (file.accounts.length === 0) return this.keep("it has no valid line");
    this.problem = undefined;
    this.bytes = read.value;
    this.accounts = new AccountSet(file.accounts);
    logSkippedLines(file, this.path, this.logger);
    this.logger.info({ path: this.path, accounts: this.accounts.size }, "reloaded the account file");
    return true;
  }

  private keep(problem: string): false {
    if (problem === this.problem) return false;
    this.problem = problem;
    this.logger.warn(
      { path: this.path, reason: problem, accounts: this.accounts.size },
      "cannot use the account file: the last good accounts stay",
    );
    return false;
  }
}
