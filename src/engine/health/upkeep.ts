/**
 * What an engine does once a second whatever else happens: it looks whether the disk has room and all is where it was, and tries again what
 * failed and nobody waits for.
 */
import { errorText } from "../../base/error.ts";
import { AssertionError } from "../../base/assert.ts";
import type { Logger } from "../../base/log.ts";
import type { ServerMemory } from "../../base/memory/server-memory.ts";
import type { Troubles } from "../../base/process/troubles.ts";
import type { Leftovers } from "../../storage/file-store/lasting-deletes.ts";
import type { DiskWatch } from "./disk-watch.ts";
import type { PlaceWatch } from "./place-watch.ts";

/** What is kept up. */
export interface UpkeepParts {
  readonly disk: DiskWatch;
  readonly places: PlaceWatch;
  readonly memory: ServerMemory;
  readonly troubles: Troubles;
  readonly leftovers: Leftovers;
  readonly logger: Logger;
  /** Called when the disk's room, or where things are, is known anew. */
  onLooked(): void;
  /** Deletes log segments that nobody needs. */
  trimLog(): Promise<void>;
  /**
   * Whether more of a log may be deleted, though nothing was flushed. One that takes no records may wait for a segment to go that no table
   * has rows in, so that no flush lets it go.
   */
  mayTrimLog(): boolean;
  /** Puts what the meta store committed where one damaged place cannot take it. @throws DbError */
  secureMeta(): void;
  /** Counts series, and begins anew where most are dead. */
  keepSeries(): Promise<void>;
  /** Tries whether the meta store takes commits again. */
  probeMeta(): Promise<void>;
  /** Looks again at damaged data files. @throws DbError */
  lookAtFiles(): Promise<void>;
}

const TICK_MILLIS = 1000;
/** What failed is tried every so many ticks. */
const RETRY_TICKS = 5;

/** See the file header. At most one round runs at a time. */
export class Upkeep {
  private readonly parts: UpkeepParts;
  private readonly tickMillis: number;
  private timer: ReturnType<typeof setInterval> | undefined;
  private round: Promise<void> | undefined;
  private ticks = 0;

  constructor(parts: UpkeepParts, tickMillis: number = TICK_MILLIS) {
    this.parts = parts;
    this.tickMillis = tickMillis;
  }

  /** Begins to tick. */
  start(): void {
    this.timer = setInterval(() => {
      this.round ??= this.tick().finally(() => {
        this.round = undefined;
      });
    }, this.tickMillis);
    this.timer.unref();
  }

  /** Waits for the round that runs and begins no other. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.round;
  }

  /** One round. @throws AssertionError only */
  async tick(): Promise<void> {
    const { disk, places, memory, troubles, logger } = this.parts;
    try {
      memory.tick();
      // Not waited for: on a network that is down it hangs, and the rest must not.
      void Promise.all([disk.look(), places.look()]).then(() => this.parts.onLooked()); // Never rejects.
      this.parts.secureMeta();
      await this.parts.keepSeries();
      if (this.parts.mayTrimLog()) await this.parts.trimLog();
      if (troubles.list().length > 0 && this.ticks++ % RETRY_TICKS === 0) await this.retry();
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      logger.debug({ error: errorText(error) }, "upkeep failed; tried again");
    }
  }

  private async retry(): Promise<void> {
    const { troubles, leftovers } = this.parts;
    // Not waited for: a store that hangs must not keep the rest from its turn. It rejects for a bug alone.
    if (troubles.has("metadata")) void this.parts.probeMeta();
    if (troubles.has("log_trim")) await this.parts.trimLog();
    if (troubles.has("file_delete")) {
      const reason = await leftovers.retry();
      if (reason === undefined) troubles.works("file_delete");
      else troubles.failed("file_delete", reason);
    }
    if (troubles.has("data_files")) await this.parts.lookAtFiles();
  }
}
