/**
 * What does not work at the moment, part by part: one line in the log when it begins and one when it is over, however often it fails in
 * between; the list is what `/health`, `/status` and `/metrics` show.
 */
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";

/** Parts that can be in trouble. */
export const TROUBLE_PARTS = [
  "compaction",
  "data_directory",
  "data_files",
  "disk_space",
  "file_delete",
  "flush",
  "log",
  "log_trim",
  "metadata",
] as const;

/** One of `TROUBLE_PARTS`. */
export type TroublePart = (typeof TROUBLE_PARTS)[number];

/** Something that does not work. */
export interface Trouble {
  readonly part: TroublePart;
  /** What fails and why, as a phrase for the operator. */
  readonly reason: string;
  /** When it began, monotonic milliseconds. */
  readonly sinceMillis: number;
}

/** What each part is called in the log. */
const NAMES: Readonly<Record<TroublePart, string>> = {
  compaction: "merging data files",
  data_directory: "the data directory",
  data_files: "a data file",
  disk_space: "room on the disk",
  file_delete: "deleting files",
  flush: "flushing to data files",
  log: "the write-ahead log",
  log_trim: "trimming the log",
  metadata: "the meta store",
};

/** See the file header. */
export class Troubles {
  /** Failures since the start, by part. */
  readonly failures: Record<TroublePart, number> = {
    compaction: 0,
    data_directory: 0,
    data_files: 0,
    disk_space: 0,
    file_delete: 0,
    flush: 0,
    log: 0,
    log_trim: 0,
    metadata: 0,
  };
  private readonly now: Map<TroublePart, Trouble> = new Map();
  private readonly logger: Logger;
  private readonly clock: Clock;

  constructor(logger: Logger, clock: Clock) {
    this.logger = logger;
    this.clock = clock;
  }

  /** Says that a part failed. Logged only when it worked until now; `fields` go to that line. */
  failed(part: TroublePart, reason: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.failures[part]++;
    const before = this.now.get(part);
    this.now.set(part, { part, reason, sinceMillis: before?.sinceMillis ?? this.clock.monotonicMillis() });
    if (before === undefined) this.logger.error({ ...fields, reason }, `${NAMES[part]}: in trouble; tried again until it works`);
  }

  /** Says that a part works. */
  works(part: TroublePart): void {
    const trouble = this.now.get(part);
    if (trouble === undefined) return;
    this.now.delete(part);
    const millis = Math.round(this.clock.monotonicMillis() - trouble.sinceMillis);
    this.logger.info({ reason: trouble.reason, millis }, `${NAMES[part]}: works again`);
  }

  /** Whether a part is in trouble. */
  has(part: TroublePart): boolean {
    return this.now.has(part);
  }

  /** What does not work, in the order of the parts' names. */
  list(): Trouble[] {
    return TROUBLE_PARTS.flatMap((part) => this.now.get(part) ?? []);
  }
}
