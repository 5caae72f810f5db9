/**
 * Backups while the server runs: a moment, and everything that holds its rows kept in place until somebody has copied it.
 *
 *   begin: one step of the event loop ─► the newest sequence S, a copy of the meta store, all data files retained, the log not trimmed
 *          then ─► every record up to S is durable, or failed ─► answer: S, where things lie
 *   copy:  data files that the copied meta store names; of each log the records up to S
 *   end:   data files are let go, the log is trimmed again
 *
 * Why that is a moment: a write takes its sequence after its request came and before it is acknowledged. So every write that was
 * acknowledged before S was read is at most S, and every one that was sent later is above. The copied meta store cannot know more: what it
 * calls flushed was numbered before. Writes under way at the moment are at most S and count, as if they had been acknowledged just then.
 *
 * A backup ends by itself when nobody has renewed it for `BACKUP_LEASE_MILLIS`: a tool that is gone must not keep the log from being
 * trimmed for ever. What a killed server left of copies is deleted by the next one's first backup.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorText, DbError } from "../../base/error.ts";
import { BACKUPS_AT_ONCE_MAX, BACKUP_LEASE_MILLIS } from "../../base/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Turns } from "../../base/scheduler/turns.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { BackupBegun, BackupOperations } from "../../query/query-context.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { LiveTables } from "../catalog/live-tables.ts";
import type { BackupPlaces } from "../engine-parts.ts";
import type { LogTrimmer } from "../flush/log-trimmer.ts";
import type { WatchedWal } from "../log/append-watch.ts";
import type { LogStreams } from "../log/log-streams.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { ThreadHosts } from "../threads/thread-hosts.ts";

/** What is asked for at a frontend. */
const CLUSTER =
  "a cluster by one of its frontends: run `varve backup TARGET --config-file FILE` with the configuration of one of its data nodes, " +
  "which says where NATS and the data files are; of a demo it is <data-home>/datanode.toml";
/** Names of copies, which are ids, and of what SQLite may put beside them. */
const COPY = /^[0-9a-f]{16}\.db(?:-wal|-shm|-journal)?$/;

/** What backups work with. */
export interface BackupParts {
  /** Where things lie; undefined: nobody can copy them. */
  readonly places: BackupPlaces | undefined;
  /** Whether rows are not here, but with others. */
  readonly isRowless: boolean;
  readonly meta: MetaStore;
  readonly live: LiveTables;
  readonly sequences: SequenceCounter;
  readonly appends: WatchedWal;
  readonly streams: LogStreams;
  readonly threads: ThreadHosts;
  readonly trimmer: LogTrimmer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One that was begun and not ended. */
interface Running {
  readonly copy: string;
  /** Lets the files of all tables go. */
  readonly files: readonly (() => Promise<void>)[];
  /** Lets the log go, once. */
  releaseLog: (() => Promise<void>) | undefined;
  timer: ReturnType<typeof setTimeout>;
}

/** See the file header. */
export class Backups implements BackupOperations {
  private readonly parts: BackupParts;
  private readonly running: Map<string, Running> = new Map();
  private isFolderClean = false;
  /** Copies of the meta store are made one at a time. */
  private readonly turns: Turns = new Turns();

  constructor(parts: BackupParts) {
    this.parts = parts;
  }

  private get leaseMillis(): number {
    return this.parts.places?.leaseMillis ?? BACKUP_LEASE_MILLIS;
  }

  begin(): Promise<BackupBegun> {
    return this.turns.alone(() => this.beginNow());
  }

  private async beginNow(): Promise<BackupBegun> {
    const { places, isRowless, meta, live, sequences, appends, threads, trimmer, clock, logger } = this.parts;
    if (isRowless) throw new DbError(StatusCode.Unsupported, `cannot back up ${CLUSTER}`);
    if (places === undefined) throw new DbError(StatusCode.Unsupported, "cannot back up: this server's files are not on a disk");
    if (this.running.size >= BACKUPS_AT_ONCE_MAX) {
      throw new DbError(StatusCode.RateLimited, `cannot back up: ${this.running.size} backups are under way; wait for one to end`);
    }
    const id = randomBytes(8).toString("hex");
    const copy = join(places.copyFolder, `${id}.db`);
    await this.prepareFolder(places.copyFolder);
    // What was committed is in memory by the next turn of the event loop: then the meta store and the tables' lists of files agree.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    // From here to the last retained file nothing waits: this is the moment.
    const copied = meta.copyTo(copy);
    const sequence = sequences.newest;
    const moment = clock.nowMillis();
    const files = [...live.regions()].map((region) => region.retainFiles());
    const logHeld = trimmer.hold();
    this.running.set(id, { copy, files, releaseLog: logHeld.release, timer: this.expiry(id) });
    try {
      await Promise.all([copied, appends.settled(), threads.settled(), logHeld.held, meta.settled()]);
    } catch (error) {
      await this.end(id);
      throw error;
    }
    threads.drain();
    logger.info({ backup: id, sequence }, "a backup began");
    const { dataFolder, logFolder } = places;
    return { id, moment, sequence, metaFile: copy, dataFolder, logFolder, logs: this.logs(), leaseMillis: this.leaseMillis };
  }

  private logs(): BackupBegun["logs"] {
    const { streams, appends } = this.parts;
    return streams.all().map((stream) => {
      const known = stream.newestKnown();
      return { thread: stream.id, newest: stream === streams.own ? Math.max(known ?? 0, appends.newest()) : known };
    });
  }

  renew(id: string): void {
    const running = this.find(id);
    clearTimeout(running.timer);
    running.timer = this.expiry(id);
  }

  async releaseLog(id: string): Promise<void> {
    const running = this.find(id);
    this.renew(id);
    const { releaseLog } = running;
    running.releaseLog = undefined;
    await releaseLog?.();
  }

  async end(id: string): Promise<void> {
    const running = this.find(id);
    this.running.delete(id);
    clearTimeout(running.timer);
    await rm(running.copy, { force: true });
    for (const release of running.files) await release();
    await running.releaseLog?.();
    this.parts.logger.info({ backup: id }, "a backup ended");
  }

  /** Ends all that are under way: the engine closes. */
  async close(): Promise<void> {
    for (const id of this.running.keys()) await this.end(id);
  }

  private async prepareFolder(folder: string): Promise<void> {
    try {
      await mkdir(folder, { recursive: true });
      // Only what its name says is a copy: somebody may have put other things there.
      const left = this.isFolderClean ? [] : (await readdir(folder)).filter((name) => COPY.test(name));
      for (const name of left) await rm(join(folder, name));
      this.isFolderClean = true;
    } catch (error) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot back up: cannot make ${folder}: ${errorText(error)}`, { cause: error });
    }
  }

  private expiry(id: string): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => void this.expire(id), this.leaseMillis); // Never rejects.
    timer.unref();
    return timer;
  }

  private async expire(id: string): Promise<void> {
    const { logger } = this.parts;
    try {
      if (!this.running.has(id)) return;
      logger.warn({ backup: id, millis: this.leaseMillis }, "nobody renewed a backup: it ends, and what it kept in place may go");
      await this.end(id);
    } catch (error) {
      logger.error({ backup: id, error: errorText(error) }, "cannot end a backup that nobody renewed");
    }
  }

  private find(id: string): Running {
    const running = this.running.get(id);
    if (running !== undefined) return running;
    throw new DbError(StatusCode.InvalidArguments, `no backup ${id} is under way: it ended, or nobody renewed it in time`);
  }
}
