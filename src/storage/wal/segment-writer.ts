/**
 * The segments of a log on disk: the one being written, and those that are complete.
 *
 * A failed write is cut off the file again. What cannot be set right at once is left to a repair (log-repair.ts), the segment takes no
 * more records, and `onFailure` is told why: from then on the log asks for nothing until it has healed.
 */
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type LogDisk, writeAll } from "./log-disk.ts";
import type { LogFolder } from "./log-folder.ts";
import type { LogRepairs } from "./log-repair.ts";
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES } from "./record-header.ts";
import type { WalSegment, WalSync } from "./wal.ts";

/** Bytes that a try has to write before the log takes records again. Reason: a full disk has room for a header all the time. */
const PROBE_BYTES: number = 256 * 1024;

/** The segment being written. */
export interface OpenSegment {
  readonly id: number;
  readonly stamp: number;
  readonly fd: number;
  /** Bytes known to be written. */
  written: number;
  /** Bytes that a sync has covered. */
  durable: number;
}

/** What a segment writer is made of. */
export interface SegmentWriterParts {
  readonly folder: LogFolder;
  readonly disk: LogDisk;
  readonly repairs: LogRepairs;
  readonly sync: WalSync;
  readonly onFailure: (reason: string) => void;
}

/** Invariant: one call that writes, begins or closes runs at a time; background syncs run beside them. */
export class SegmentWriter {
  private readonly parts: SegmentWriterParts;
  /** Oldest first. */
  private readonly complete: WalSegment[] = [];
  private open: OpenSegment | undefined;
  /** Whether bytes were written that no sync has covered yet; only in modes "interval" and "never". */
  private dirty = false;
  private backgroundSyncing: Promise<void> = Promise.resolve();

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
    return open === undefined ? [...this.complete] : [...this.complete, { id: open.id, bytes: open.written }];
  }

  /** Says that there is a complete segment, newer than all before. */
  found(segment: WalSegment): void {
    this.complete.push(segment);
  }

  /** Makes a segment file and goes on in it. @throws the system's error */
  async begin(id: number): Promise<OpenSegment> {
    const { disk, folder, sync } = this.parts;
    const path = folder.pathOf(id);
    const stamp = crypto.getRandomValues(new Uint32Array(1))[0] as number;
    const fd = await disk.create(path);
    try {
      failPoint("log.segment-made");
      await writeAll(disk, fd, [encodeSegmentHeader(id, stamp)], 0);
    } catch (error) {
      await this.removeStart(id, fd, error);
      throw error;
    }
    failPoint("log.header-written");
    if (sync !== "never") await this.syncStart(id, fd);
    failPoint("log.folder-synced");
    const durable = sync === "never" ? 0 : SEGMENT_HEADER_BYTES;
    const segment = { id, stamp, fd, written: SEGMENT_HEADER_BYTES, durable };
    this.open = segment;
    return segment;
  }

  /** Appends to the segment being written and, in mode "always", syncs it. @throws the system's error; then nothing of it will be read */
  async write(segment: OpenSegment, parts: readonly Uint8Array[], bytes: number): Promise<void> {
    try {
      failPoint("log.before-write");
      await writeAll(this.parts.disk, segment.fd, parts, segment.written);
    } catch (error) {
      await this.cutBack(segment, error);
      throw error;
    }
    segment.written += bytes;
    failPoint("log.written");
    if (this.parts.sync === "always") await this.sync(segment);
    else this.dirty = true;
    failPoint("log.synced");
  }

  /** Writes as much as an ordinary group has and takes it away again. @throws Error when one of the two does not work */
  async probe(segment: OpenSegment): Promise<void> {
    const { disk, sync } = this.parts;
    try {
      await writeAll(disk, segment.fd, [new Uint8Array(PROBE_BYTES)], segment.written);
      if (sync !== "never") await disk.sync(segment.fd);
    } finally {
      await this.cutBack(segment, "a try");
    }
    segment.durable = sync === "never" ? 0 : segment.written;
    if (this.open !== segment) throw new Error("the try could not be cut off again");
  }

  /** Completes the segment being written, if there is one. @throws the system's error */
  async finish(): Promise<void> {
    await this.backgroundSyncing;
    if (this.open !== undefined && this.dirty && this.parts.sync === "interval") await this.sync(this.open);
    if (await this.release()) failPoint("log.segment-closed");
  }

  /** Begins to sync what was written, in the background. */
  syncInBackground(): void {
    if (!this.dirty || this.open === undefined) return;
    const segment = this.open;
    this.dirty = false; // What is written from here on waits for the next round.
    this.backgroundSyncing = this.backgroundSyncing.then(() => this.backgroundSync(segment));
  }

  /** Resolves when no background sync runs. */
  idle(): Promise<void> {
    return this.backgroundSyncing;
  }

  /** Syncs what no sync has covered yet. @throws the system's error */
  async syncRest(): Promise<void> {
    if (this.dirty && this.open !== undefined) await this.sync(this.open);
  }

  /** Closes the file being written as it is. Returns whether there was one. */
  async release(): Promise<boolean> {
    const current = this.take();
    if (current === undefined) return false;
    await this.parts.disk.close(current.fd);
    return true;
  }

  /** Deletes the complete segments before `segment`. @throws DbError StorageUnavailable */
  async trim(segment: number): Promise<void> {
    const { disk, folder, repairs } = this.parts;
    while (this.complete.length > 0 && (this.complete[0] as WalSegment).id < segment) {
      const oldest = this.complete.shift() as WalSegment;
      try {
        failPoint("log.before-delete");
        await disk.delete(folder.pathOf(oldest.id));
      } catch (cause) {
        this.complete.unshift(oldest); // The next trim tries again.
        throw new DbError(StatusCode.StorageUnavailable, `cannot delete log segment ${oldest.id}: ${errorText(cause)}`, { cause });
      }
      await repairs.deleted(oldest.id);
      failPoint("log.deleted");
    }
  }

  /** The header first: what then lies behind a header that cannot be read was never a record of this segment. */
  private async syncStart(id: number, fd: number): Promise<void> {
    const { disk, folder, repairs, onFailure } = this.parts;
    try {
      await disk.sync(fd);
      await disk.syncFolder(folder.path);
    } catch (error) {
      repairs.add({ kind: "remove", segment: id, fd, path: folder.pathOf(id) }); // A power loss may take the file, or not.
      onFailure(`cannot sync the log: ${errorText(error)}`);
      throw error;
    }
  }

  /** Takes away a segment whose header could not be written: a segment that is not the newest must begin with one. */
  private async removeStart(id: number, fd: number, why: unknown): Promise<void> {
    const { disk, folder, repairs, onFailure } = this.parts;
    const path = folder.pathOf(id);
    try {
      await disk.delete(path);
    } catch (error) {
      repairs.add({ kind: "remove", segment: id, fd, path });
      onFailure(`cannot remove a log segment that could not be begun (${errorText(why)}): ${errorText(error)}`);
      return;
    }
    await disk.close(fd);
  }

  /** A failed sync leaves unknown bytes on disk: the segment takes no more records, and what it holds beyond the last sync is in doubt. */
  private async sync(segment: OpenSegment): Promise<void> {
    const { written } = segment;
    try {
      await this.parts.disk.sync(segment.fd);
    } catch (error) {
      this.giveUp(segment);
      this.parts.onFailure(`cannot sync the log: ${errorText(error)}`);
      throw error;
    }
    segment.durable = written;
    this.dirty = false;
  }

  private async backgroundSync(segment: OpenSegment): Promise<void> {
    const { written } = segment;
    try {
      await this.parts.disk.sync(segment.fd);
      segment.durable = written;
    } catch (error) {
      // The engine makes the rows durable in files. Until then a crash of the machine may take what was acknowledged since the last sync.
      this.giveUp(segment);
      this.parts.onFailure(`cannot sync the log: ${errorText(error)}`);
    }
  }

  /**
   * Removes what a failed write may have left, so that the segment ends with an intact record. Synced, since whole records of the
   * group may lie there and a power loss must not bring them back after their writers were told that they failed.
   */
  private async cutBack(segment: OpenSegment, why: unknown): Promise<void> {
    const { disk, sync, onFailure } = this.parts;
    try {
      await disk.truncate(segment.fd, segment.written);
      failPoint("log.cut");
      if (sync !== "never") await disk.sync(segment.fd);
    } catch (error) {
      this.giveUp(segment);
      onFailure(`cannot cut a failed write (${errorText(why)}) off the log: ${errorText(error)}`);
    }
  }

  /** Leaves the segment being written to its repair. */
  private giveUp(segment: OpenSegment): void {
    const { id, fd } = segment;
    const { sync, repairs } = this.parts;
    if (this.open === segment) this.take();
    this.dirty = false;
    if (sync === "interval") {
      repairs.add({ kind: "trim", segment: id, fd });
      return;
    }
    const isSynced = sync === "always";
    repairs.add({ kind: "cut", segment: id, fd, length: isSynced ? segment.durable : segment.written, isSynced });
  }

  /** The segment being written, now complete; from here on no background sync starts on it. */
  private take(): OpenSegment | undefined {
    const { open } = this;
    this.open = undefined;
    if (open !== undefined) this.complete.push({ id: open.id, bytes: open.written });
    return open;
  }
}
