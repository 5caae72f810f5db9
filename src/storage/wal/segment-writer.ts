/**
 * The segments of a log on disk: the one being written, and those that are complete.
 *
 * A failed write is cut off the file again. What cannot be set right at once is left to a repair (log-repair.ts): the segment takes no
 * more records, its file is closed, and `onFailure` is told why: from then on the log asks for nothing until it has healed.
 */
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { EndsFile } from "./ends-file.ts";
import type { LogDisk } from "./log-disk.ts";
import { LogFile } from "./log-file.ts";
import type { LogWatch } from "./log-metrics.ts";
import type { LogFolder } from "./log-folder.ts";
import type { LogRepairs } from "./log-repair.ts";
import { checkOfHeader, encodeSegmentHeader, NO_SEGMENT, SEGMENT_HEADER_BYTES, type SegmentEnd } from "./record-header.ts";
import type { WalSegment, WalSync } from "./wal.ts";

/** Bytes that a try has to write before the log takes records again. Reason: a full disk has room for a header all the time. */
const PROBE_BYTES: number = 256 * 1024;

/** The segment being written. */
export interface OpenSegment {
  readonly id: number;
  readonly stamp: number;
  /** Closed by whoever takes the segment from its place as the one being written. */
  readonly file: LogFile;
  /** Bytes known to be written. */
  written: number;
  /** Checksum of the header of the last record, or of the segment's own. */
  check: number;
  /** Bytes that a sync has covered, and the checksum as of then. */
  durable: number;
  durableCheck: number;
  /** Whether a background sync of it failed: what lies beyond `durable` is in doubt, and it takes no more records. */
  isDoubtful: boolean;
}

/** What a segment writer is made of. */
export interface SegmentWriterParts {
  readonly folder: LogFolder;
  readonly disk: LogDisk;
  readonly ends: EndsFile;
  readonly repairs: LogRepairs;
  readonly sync: WalSync;
  readonly clock: Pick<Clock, "monotonicMillis">;
  readonly watch: LogWatch | undefined;
  readonly onFailure: (reason: string) => void;
}

/** A segment that takes no more records. */
interface CompleteSegment extends SegmentEnd {
  /** Whether a sync has covered all of it. */
  readonly isDurable: boolean;
}

/**
 * Invariants: calls that write, begin, finish or give up run one at a time, and so do trims; the log sees to both. Background syncs and
 * trims run beside the former. A segment leaves `open` once, and whoever takes it closes its file.
 */
export class SegmentWriter {
  private readonly parts: SegmentWriterParts;
  /** Oldest first. */
  private complete: readonly CompleteSegment[] = [];
  /** The newest complete one, also when it was deleted. */
  private previous: CompleteSegment = { ...NO_SEGMENT, isDurable: false };
  private open: OpenSegment | undefined;
  private backgroundSyncing: Promise<void> | undefined;

  constructor(parts: SegmentWriterParts) {
    this.parts = parts;
  }

  /** The segment being written, if there is one. */
  get current(): OpenSegment | undefined {
    return this.open;
  }

  /** All segments, oldest first. */
  segments(): readonly WalSegment[] {
    const { open } = this;
    const complete = this.complete.map(({ id, bytes }) => ({ id, bytes }));
    return open === undefined ? complete : [...complete, { id: open.id, bytes: open.written }];
  }

  /** How the newest segment ends on disk, as far as a sync has covered it; undefined when none has, or when a sync of it failed. */
  get durableEnd(): SegmentEnd | undefined {
    const { open, previous } = this;
    if (open !== undefined) {
      const { id, durable, durableCheck } = open;
      return durable > 0 && !open.isDoubtful ? { id, bytes: durable, check: durableCheck } : undefined;
    }
    const { id, bytes, check } = previous;
    return previous.isDurable ? { id, bytes, check } : undefined;
  }

  /** Whether a sync has covered all that was written. */
  get isSettled(): boolean {
    return this.open === undefined || this.open.written === this.open.durable;
  }

  /** Says that there is a complete segment, newer than all before. `isDurable`: whether a sync has covered it. */
  found({ id, bytes, check }: SegmentEnd, isDurable: boolean): void {
    this.completed({ id, bytes, check, isDurable });
  }

  /** Makes a segment file and goes on in it. @throws the system's error */
  async begin(id: number): Promise<OpenSegment> {
    const { disk, folder, sync } = this.parts;
    const stamp = crypto.getRandomValues(new Uint32Array(1))[0] as number;
    const header = encodeSegmentHeader({ id, stamp, previous: this.previous });
    const file = await LogFile.create(disk, folder.pathOf(id));
    try {
      failPoint("log.segment-made");
      await file.write([header], 0);
    } catch (error) {
      await this.removeStart(id, file, error);
      throw error;
    }
    failPoint("log.header-written");
    await this.nameStart(id, file);
    const check = checkOfHeader(header);
    const durable = sync === "never" ? 0 : SEGMENT_HEADER_BYTES;
    const segment = { id, stamp, file, written: SEGMENT_HEADER_BYTES, check, durable, durableCheck: check, isDoubtful: false };
    this.open = segment;
    return segment;
  }

  /**
   * Appends to the segment being written and, in mode "always", syncs it. `check` is that of the last record.
   *
   * @throws the system's error; then nothing of it will be read
   */
  async write(segment: OpenSegment, parts: readonly Uint8Array[], bytes: number, check: number): Promise<void> {
    try {
      failPoint("log.before-write");
      await segment.file.write(parts, segment.written);
    } catch (error) {
      await this.cutBack(segment, error);
      throw error;
    }
    segment.written += bytes;
    segment.check = check;
    failPoint("log.written");
    if (this.parts.sync === "always") await this.sync(segment);
    failPoint("log.synced");
  }

  /** Writes as much as an ordinary group has and takes it away again. @throws Error when one of the two does not work */
  async probe(segment: OpenSegment): Promise<void> {
    const { sync } = this.parts;
    try {
      await segment.file.write([new Uint8Array(PROBE_BYTES)], segment.written);
      if (sync !== "never") await segment.file.sync();
    } finally {
      await this.cutBack(segment, "a try");
    }
    if (this.open !== segment) throw new Error("the try could not be cut off again");
    if (sync !== "never") noteDurable(segment, segment);
  }

  /** Completes the segment being written, if there is one. @throws the system's error */
  async finish(): Promise<void> {
    if (await this.closeOpen(this.parts.sync === "interval")) failPoint("log.segment-closed");
  }

  /** Leaves a segment to its repair when a background sync of it failed. */
  async leaveDoubtful(): Promise<void> {
    if (this.open?.isDoubtful === true) await this.giveUp(this.open);
  }

  /** Begins to sync what was written, in the background, unless it does so already. */
  syncInBackground(): void {
    const segment = this.open;
    if (this.backgroundSyncing !== undefined || segment === undefined || segment.written === segment.durable) return;
    this.backgroundSyncing = this.backgroundSync(segment).finally(() => {
      this.backgroundSyncing = undefined;
    });
  }

  /** Syncs what no sync has covered yet and closes the file being written. @throws the system's error */
  async end(): Promise<void> {
    await this.closeOpen(true);
  }

  /** Closes the segment being written, synced if asked; leaves a doubtful one to its repair. Returns whether one was closed. */
  private async closeOpen(isSynced: boolean): Promise<boolean> {
    await this.backgroundSyncing;
    const segment = this.open;
    if (segment === undefined) return false;
    if (segment.isDoubtful) {
      await this.giveUp(segment);
      return false;
    }
    if (isSynced && segment.written > segment.durable) await this.sync(segment);
    await this.release(segment);
    return true;
  }

  /**
   * Deletes the complete segments before `segment`, oldest first, once the log's ends say that they may be missing.
   *
   * @throws DbError StorageUnavailable
   */
  async trim(segment: number): Promise<void> {
    const { disk, folder, repairs, ends } = this.parts;
    const unneeded = this.complete.filter((one) => one.id < segment);
    const oldest = (unneeded.at(-1)?.id ?? 0) + 1;
    if (oldest > ends.ends.oldest) await this.noteOldest(oldest);
    for (const { id } of unneeded) {
      try {
        failPoint("log.before-delete");
        await disk.delete(folder.pathOf(id));
      } catch (cause) {
        throw new DbError(StatusCode.StorageUnavailable, `cannot delete log segment ${id}: ${errorText(cause)}`, { cause });
      }
      this.complete = this.complete.filter((one) => one.id !== id);
      repairs.deleted(id);
      failPoint("log.deleted");
    }
  }

  private async noteOldest(oldest: number): Promise<void> {
    try {
      await this.parts.ends.note({ oldest }, true);
    } catch (cause) {
      const why = errorText(cause);
      throw new DbError(StatusCode.StorageUnavailable, `cannot note that log segments before ${oldest} are not needed: ${why}`, { cause });
    }
  }

  /**
   * The header first: what then lies behind a header that cannot be read was never a record of this segment. The log's ends name it last:
   * from then on it must be there.
   */
  private async nameStart(id: number, file: LogFile): Promise<void> {
    const { disk, folder, sync, ends, repairs, onFailure } = this.parts;
    try {
      if (sync !== "never") {
        await file.sync();
        await disk.syncFolder(folder.path);
      }
      failPoint("log.folder-synced");
      await ends.note({ newest: id });
    } catch (error) {
      repairs.add({ kind: "remove", segment: id, path: file.path }); // A power loss may take the file, or not.
      onFailure(`cannot sync the log: ${errorText(error)}`);
      await this.letGo(file);
      throw error;
    }
  }

  /** Takes away a segment whose header could not be written: a segment that is not the newest must begin with one. */
  private async removeStart(id: number, file: LogFile, why: unknown): Promise<void> {
    const { disk, repairs, onFailure } = this.parts;
    try {
      await disk.delete(file.path);
    } catch (error) {
      repairs.add({ kind: "remove", segment: id, path: file.path });
      onFailure(`cannot remove a log segment that could not be begun (${errorText(why)}): ${errorText(error)}`);
    }
    await this.letGo(file);
  }

  /** A failed sync leaves unknown bytes on disk: the segment takes no more records, and what it holds beyond the last sync is in doubt. */
  private async sync(segment: OpenSegment): Promise<void> {
    const covered = { written: segment.written, check: segment.check };
    try {
      await this.timedSync(segment);
    } catch (error) {
      this.parts.onFailure(`cannot sync the log: ${errorText(error)}`);
      await this.giveUp(segment);
      throw error;
    }
    noteDurable(segment, covered);
  }

  /** Also one that fails is timed: a disk that hangs is seen by it. */
  private async timedSync({ file }: OpenSegment): Promise<void> {
    const { clock, watch } = this.parts;
    const started = clock.monotonicMillis();
    try {
      await file.sync();
    } finally {
      watch?.synced((clock.monotonicMillis() - started) / 1000);
    }
  }

  /** Only marks a segment whose sync failed: a record may be on its way into it. */
  private async backgroundSync(segment: OpenSegment): Promise<void> {
    const covered = { written: segment.written, check: segment.check };
    try {
      await this.timedSync(segment);
      noteDurable(segment, covered);
    } catch (error) {
      // The engine makes the rows durable in files. Until then a crash of the machine may take what was acknowledged since the last sync.
      segment.isDoubtful = true;
      this.parts.onFailure(`cannot sync the log: ${errorText(error)}`);
    }
  }

  /**
   * Removes what a failed write may have left, so that the segment ends with an intact record. Synced, since whole records of the
   * group may lie there and a power loss must not bring them back after their writers were told that they failed.
   */
  private async cutBack(segment: OpenSegment, why: unknown): Promise<void> {
    const { sync, onFailure } = this.parts;
    try {
      await segment.file.truncate(segment.written);
      failPoint("log.cut");
      if (sync !== "never") await segment.file.sync();
    } catch (error) {
      onFailure(`cannot cut a failed write (${errorText(why)}) off the log: ${errorText(error)}`);
      await this.giveUp(segment);
    }
  }

  /** Leaves the segment being written to its repair; then it ends where a sync has covered it, or without syncs where it was written. */
  private async giveUp(segment: OpenSegment): Promise<void> {
    const { sync, repairs } = this.parts;
    const { id, file, written, check, durable, durableCheck } = segment;
    const isSynced = sync === "always";
    if (sync === "interval") repairs.add({ kind: "trim", segment: id });
    else repairs.add({ kind: "cut", segment: id, path: file.path, length: isSynced ? durable : written, isSynced });
    this.take(segment, { id, bytes: isSynced ? durable : written, check: isSynced ? durableCheck : check, isDurable: isSynced });
    await this.letGo(file);
  }

  /** Closes the file of a segment that is complete. @throws the system's error */
  private release(segment: OpenSegment): Promise<void> {
    const { id, file, written, check, durable } = segment;
    this.take(segment, { id, bytes: written, check, isDurable: durable === written });
    return file.close();
  }

  /** The segment being written is complete from here on; no background sync starts on it. */
  private take(segment: OpenSegment, as: CompleteSegment): void {
    assert(this.open === segment, `a segment is given up by its writer; got ${segment.id} while ${this.open?.id} is written`);
    this.open = undefined;
    this.completed(as);
  }

  private completed(segment: CompleteSegment): void {
    this.complete = [...this.complete, segment];
    this.previous = segment;
  }

  /** Closes the file of a segment that failed; the failure is known already. */
  private async letGo(file: LogFile): Promise<void> {
    try {
      await file.close();
    } catch (error) {
      this.parts.onFailure(`cannot close a log segment that failed: ${errorText(error)}`);
    }
  }
}

/** Notes that a sync has covered a segment as it was before. */
function noteDurable(segment: OpenSegment, covered: Pick<OpenSegment, "written" | "check">): void {
  segment.durable = covered.written;
  segment.durableCheck = covered.check;
}
