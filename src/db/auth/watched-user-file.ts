/**
 * An account file that may change while the server runs. The folder is watched (a replaced file is a new inode, so watching the file itself
 * would go blind), and the file is read every few seconds besides, for file systems and symbolic links whose changes no event tells.
 * A file that is missing, unreadable or without a valid line leaves the last good accounts in force. Source: contract http.md 5.1.
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

/** A provider over a watched file. Invariant: `accounts` holds what `bytes` says. Close it to stop the watch. */
export class WatchedUserFile implements AccountProvider {
  private readonly path: string;
  private readonly folder: string;
  private readonly logger: Logger;
  private readonly poll: ReturnType<typeof setInterval>;
  private accounts: AccountSet;
  private bytes: Uint8Array;
  private watcher: FSWatcher | undefined;
  private watchedInode: bigint | undefined;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private isReading = false;
  private isAgain = false;
  private isClosed = false;
  /** Why the file could not be used at the last reading; said once, not at every reading. */
  private problem: string | undefined;

  private constructor(path: string, logger: Logger, accounts: AccountSet, bytes: Uint8Array, pollMs: number) {
    this.path = path;
    this.folder = dirname(resolve(path));
    this.logger = logger;
    this.accounts = accounts;
    this.bytes = bytes;
    this.poll = setInterval(() => this.onPoll(), pollMs);
    this.poll.unref();
  }

  /** Reads the file and starts to watch it. @throws DbError as `readUserFile` */
  static open(path: string, logger: Logger, pollMs: number = POLL_MS_DEFAULT): WatchedUserFile {
    const { bytes, accounts } = readUserFile(path, logger);
    const provider = new WatchedUserFile(path, logger, new AccountSet(accounts), bytes, pollMs);
    provider.watchFolder();
    return provider;
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
    return `watch_file_user_provider:${this.path}`;
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

  /** Starts a reading; while one runs, one more is noted. */
  private read(): void {
    if (this.isClosed) return;
    if (this.isReading) {
      this.isAgain = true;
      return;
    }
    this.isReading = true;
    void this.reload().finally(() => {
      // Nobody waits for a reload: it reports through the log and never rejects but for a bug.
      this.isReading = false;
      if (!this.isAgain) return;
      this.isAgain = false;
      this.read();
    });
  }

  private async reload(): Promise<void> {
    const read = await rereadUserFile(this.path);
    if (this.isClosed) return;
    if (!read.ok) {
      this.keep(read.reason);
      return;
    }
    if (Buffer.compare(read.value, this.bytes) === 0) {
      this.problem = undefined;
      return;
    }
    const file = parseUserFile(read.value);
    if (file.accounts.length === 0) {
      this.keep("it has no valid line");
      return;
    }
    this.problem = undefined;
    this.bytes = read.value;
    this.accounts = new AccountSet(file.accounts);
    logSkippedLines(file, this.path, this.logger);
    this.logger.info({ path: this.path, accounts: this.accounts.size }, "reloaded the account file");
  }

  private keep(problem: string): void {
    if (problem === this.problem) return;
    this.problem = problem;
    this.logger.warn(
      { path: this.path, reason: problem, accounts: this.accounts.size },
      "cannot use the account file: the last good accounts stay",
    );
  }
}
