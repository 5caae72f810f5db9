/**
 * The file `threads` of the log directory: which ingest threads have a log. A folder that is gone is missed by it alone. It is replaced as
 * a whole, before the first write of a new thread, and before a log that nobody writes any more is removed.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { corrupted, type CorruptionKind, DbError, errorText } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { Turns } from "../../base/scheduler/turns.ts";
import { type FileDisk, systemFileDisk } from "../file-store/file-disk.ts";

/** Name of the file. */
export const NAMES_FILE = "threads";
const MAGIC = 0x31544c56; // "VLT1"
const VERSION = 1;
const HEADER_BYTES = 12;
const ID_BYTES = 4;
const CRC_BYTES = 4;
const DAMAGED = 'it is damaged; delete it, or start with wal.recovery = "skip_corrupt", to go on with the folders that are there';

/** See the file header. Invariant: changes are made one at a time. */
export class ThreadLogNames {
  private readonly directory: string;
  private readonly path: string;
  private readonly disk: FileDisk;
  private readonly turns: Turns = new Turns();

  /** @param directory the log directory, which is there when something is to be named */
  constructor(directory: string, disk: FileDisk = systemFileDisk) {
    this.directory = directory;
    this.path = join(directory, NAMES_FILE);
    this.disk = disk;
  }

  /** Whether somebody has said which threads have a log. */
  get isThere(): boolean {
    return existsSync(this.path);
  }

  /** Threads that have a log, ascending; undefined when nobody has said so. @throws DbError StorageUnavailable, also when it is damaged */
  read(): number[] | undefined {
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(this.path);
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
      throw this.failed("read", errorText(cause), cause);
    }
    return this.decode(bytes);
  }

  /** Says that the threads that `list` finds have a log, no others. Resolves once that is durable. @throws DbError StorageUnavailable */
  set(list: () => readonly number[]): Promise<void> {
    return this.turns.alone(() => this.write(list()));
  }

  /**
   * Says that a thread has no log any more, then removes it: from then on nobody misses it.
   *
   * @throws DbError StorageUnavailable, and what `remove` throws
   */
  remove(thread: number, remove: () => Promise<void>): Promise<void> {
    return this.turns.alone(async () => {
      const named = this.read();
      if (named?.includes(thread) === true) await this.write(named.filter((one) => one !== thread));
      await remove();
    });
  }

  private async write(threads: readonly number[]): Promise<void> {
    const { disk, path } = this;
    const bytes = encodeThreadNames(threads);
    try {
      const fd = disk.create(`${path}.tmp`);
      try {
        for (let at = 0; at < bytes.length; ) at += disk.write(fd, bytes, at);
        await disk.sync(fd);
      } finally {
        disk.close(fd);
      }
      await disk.rename(`${path}.tmp`, path);
      await disk.syncFolder(this.directory);
    } catch (cause) {
      throw this.failed("write", errorText(cause), cause);
    }
  }

  private decode(bytes: Uint8Array): number[] {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isWhole = bytes.length >= HEADER_BYTES + CRC_BYTES && view.getUint32(0, true) === MAGIC;
    if (!isWhole || view.getUint32(bytes.length - CRC_BYTES, true) !== crc32(bytes.subarray(0, -CRC_BYTES))) {
      throw this.damaged(DAMAGED, "checksum");
    }
    const version = view.getUint32(4, true);
    if (version !== VERSION) throw this.damaged(`it has format version ${version}, which this server does not know`, "version");
    const count = view.getUint32(8, true);
    const fits = Math.min(count, (bytes.length - HEADER_BYTES - CRC_BYTES) / ID_BYTES);
    return Array.from({ length: fits }, (_, i) => view.getUint32(HEADER_BYTES + i * ID_BYTES, true));
  }

  private damaged(why: string, kind: CorruptionKind): DbError {
    return corrupted(this.said("read", why), { file: this.path, offset: undefined, kind });
  }

  private said(verb: string, why: string): string {
    return `cannot ${verb} the list of threads' logs ${this.path}: ${why}`;
  }

  private failed(verb: string, why: string, cause?: unknown): DbError {
    return new DbError(StatusCode.StorageUnavailable, this.said(verb, why), { cause });
  }
}

/** The bytes of the file that names these threads. */
export function encodeThreadNames(threads: readonly number[]): Uint8Array {
  const sorted = [...new Set(threads)].sort((a, b) => a - b);
  const bytes = new Uint8Array(HEADER_BYTES + sorted.length * ID_BYTES + CRC_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, sorted.length, true);
  for (const [i, thread] of sorted.entries()) view.setUint32(HEADER_BYTES + i * ID_BYTES, thread, true);
  view.setUint32(bytes.length - CRC_BYTES, crc32(bytes.subarray(0, -CRC_BYTES)), true);
  return bytes;
}
