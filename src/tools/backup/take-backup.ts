/**
 * Takes a backup of a running server.
 *
 *   server: begin ─► copy of the meta store, logs up to the moment's sequence ─► server: the log may go
 *           ─► data files that no earlier backup has ─► manifest ─► server: end
 *
 * The manifest comes last, so that what is interrupted is no backup; what it had copied is deleted again. Files are read where the server
 * has them: the tool runs on its machine, as its user.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { errorText } from "../../base/error.ts";
import { decodeFile } from "../../engine/schema/meta-codec.ts";
import type { BackupBegun } from "../../query/query-context.ts";
import type { MetaValue } from "../../storage/meta-store/meta-store.ts";
import { entriesOfCopy } from "../../storage/meta-store/sqlite-layout.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { ENDS_NAME } from "../../storage/wal/ends-file.ts";
import { encodeEnds, logPrefix, type SegmentPrefix } from "../../storage/wal/log-prefix.ts";
import type { RemoteFileStore } from "../../storage/file-store/remote-file-store.ts";
import { encodeThreadNames, NAMES_FILE } from "../../storage/wal/thread-log-names.ts";
import { threadLogFolder } from "../../storage/wal/thread-logs.ts";
import { ByteProgress } from "../common/byte-progress.ts";
import { storePieces } from "../common/data-store.ts";
import type { ToolIo } from "../tool.ts";
import { eachAtOnce, SummedPieces } from "./copy-file.ts";
import { piecesOf } from "./folder-target.ts";
import { type BackupFile, encodeManifest, findBackups, inPieces, type Manifest, manifestName } from "./manifest.ts";
import { backupId } from "./moment.ts";
import type { BackupServer } from "./server-client.ts";
import type { BackupTarget } from "./target.ts";

const ABSENT =
  "it does not exist; see varve check, or, where the server's data files lie in an S3 store, name its configuration with --config-file";

/** Files that are copied at once: over a network each waits for answers. */
const COPIES_AT_ONCE = 4;
/** A lease is renewed so often. */
const RENEWALS_PER_LEASE = 4;

/** What a backup came to. */
export interface TakenBackup {
  readonly manifest: Manifest;
  /** Files and bytes that were copied; the others an earlier backup had. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
}

/**
 * See the file header.
 *
 * @param store that has the data files; undefined: they are in the server's folder
 * @throws Error; nothing of the backup stays in the target then, if it can be reached
 */
export async function takeBackup(target: BackupTarget, server: BackupServer, io: ToolIo, store?: RemoteFileStore): Promise<TakenBackup> {
  const earlier = await latestFiles(target);
  const begun = await server.begin();
  const taking = new Taking(target, begun, earlier, io, store);
  const renewal = renewing(server, begun, taking);
  try {
    checkApart(target, begun);
    await taking.copyMeta();
    await taking.copyLogs();
    await server.releaseLog(begun.id);
    await taking.copyData();
    return await taking.finish();
  } catch (error) {
    await taking.undo();
    throw error;
  } finally {
    clearInterval(renewal);
    await ended(server, begun.id, io);
  }
}

/** A disk that takes the store away would take its backups too, and a check would find them in it. @throws Error */
function checkApart({ folder }: BackupTarget, { dataFolder, logFolder }: BackupBegun): void {
  if (folder === undefined) return;
  for (const own of [dirname(dataFolder), logFolder]) {
    const below = relative(own, resolve(folder));
    if (below === "" || !(below.startsWith("..") || isAbsolute(below))) {
      throw new Error(`cannot back up to ${folder}: it lies in ${own}, which is the store's own; name another folder`);
    }
  }
}

/** Files of the newest backup that is whole, by path. */
async function latestFiles(target: BackupTarget): Promise<ReadonlyMap<string, BackupFile>> {
  const whole = (await findBackups(target)).findLast((found) => found.kind === "whole");
  return new Map(whole?.kind === "whole" ? whole.manifest.files.map((file) => [file.path, file]) : []);
}

function renewing(server: BackupServer, begun: BackupBegun, taking: Taking): ReturnType<typeof setInterval> {
  const renew = async (): Promise<void> => {
    try {
      await server.renew(begun.id);
    } catch (error) {
      taking.failed = error; // The next piece says so.
    }
  };
  return setInterval(() => void renew(), begun.leaseMillis / RENEWALS_PER_LEASE); // Never rejects.
}

/** The server ends a backup that it is not told of by itself. */
async function ended(server: BackupServer, id: string, io: ToolIo): Promise<void> {
  try {
    await server.end(id);
  } catch (error) {
    io.err(`varve backup: warning: cannot tell the server that the backup ended: ${errorText(error)}\n`);
  }
}

/** One backup being taken. */
class Taking {
  /** Why it cannot go on. */
  failed: unknown;
  private readonly target: BackupTarget;
  private readonly begun: BackupBegun;
  private readonly earlier: ReadonlyMap<string, BackupFile>;
  private readonly io: ToolIo;
  private readonly store: RemoteFileStore | undefined;
  private readonly id: string;
  private readonly files: BackupFile[] = [];
  private readonly made: string[] = [];
  private dataFiles: readonly DataFile[] = [];
  private copiedBytes = 0;
  private progress: ByteProgress | undefined;

  constructor(
    target: BackupTarget,
    begun: BackupBegun,
    earlier: ReadonlyMap<string, BackupFile>,
    io: ToolIo,
    store: RemoteFileStore | undefined,
  ) {
    this.store = store;
    this.target = target;
    this.begun = begun;
    this.earlier = earlier;
    this.io = io;
    this.id = backupId(begun.moment, begun.id);
  }

  /** The copy of the meta store, which names the data files. */
  async copyMeta(): Promise<void> {
    const bytes = await readFile(this.begun.metaFile);
    await this.copy("meta.db", inPieces(bytes));
    this.dataFiles = entriesOfCopy(bytes, "file/").map(({ key, value }) => decodeFile(key, JSON.parse(value) as MetaValue));
  }

  /** Of each log the records up to the moment, with its ends as a start wants them. */
  async copyLogs(): Promise<void> {
    const { logFolder, logs, sequence } = this.begun;
    const threads: number[] = [];
    for (const { thread, newest } of logs) {
      const segments = await logPrefix(thread === 0 ? logFolder : threadLogFolder(logFolder, thread), sequence, newest);
      if (thread !== 0 && segments.length === 0) continue;
      if (thread !== 0) threads.push(thread);
      await this.copyLog(thread === 0 ? "wal" : `wal/thread-${thread}`, segments);
    }
    if (threads.length > 0) await this.copy(`wal/${NAMES_FILE}`, inPieces(encodeThreadNames(threads)));
  }

  private async copyLog(path: string, segments: readonly SegmentPrefix[]): Promise<void> {
    for (const { path: source, end } of segments) {
      await this.copy(`${path}/${String(end.id).padStart(10, "0")}.log`, piecesOf(source, end.bytes));
    }
    await this.copy(`${path}/${ENDS_NAME}`, inPieces(encodeEnds(segments)));
  }

  /** Files that no earlier backup has. */
  async copyData(): Promise<void> {
    const missing = this.dataFiles.filter((file) => !this.reuse(file));
    const bytes = missing.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.progress = new ByteProgress(this.io, "copying", bytes);
    await eachAtOnce(missing, COPIES_AT_ONCE, (file) => this.copyDataFile(file));
    this.progress.clear();
  }

  /**
   * Takes over what the newest backup has of a file. Names are used once in a store, and a target may be of several stores, or of one that
   * was restored: bytes are the same where length and checksum are. Files whose entries have no checksum are copied each time.
   */
  private reuse({ name, byteLength, crc }: DataFile): boolean {
    const known = this.earlier.get(`data/${name}`);
    if (known === undefined || crc === undefined || known.crc !== crc || known.byteLength !== byteLength) return false;
    this.files.push(known);
    return true;
  }

  private async copyDataFile({ name, byteLength, crc }: DataFile): Promise<void> {
    const source = join(this.begun.dataFolder, name);
    if (this.store === undefined && !existsSync(source)) throw new Error(`cannot back up ${source}: ${ABSENT}`);
    const pieces = this.store === undefined ? piecesOf(source) : storePieces(this.store, name);
    const copied = await this.copy(`data/${name}`, pieces, crc);
    if (copied.byteLength !== byteLength) throw damaged(source, `it has ${copied.byteLength} bytes, its entry says ${byteLength}`);
  }

  /** Writes the manifest: from then on it is a backup. */
  async finish(): Promise<TakenBackup> {
    const { id, begun, files, made, copiedBytes } = this;
    const { moment, sequence } = begun;
    const manifest = { id, moment, sequence, files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
    const copiedFiles = made.length;
    this.check(0);
    await this.target.write(manifestName(id), inPieces(encodeManifest(manifest)));
    return { manifest, copiedFiles, copiedBytes };
  }

  /** Deletes what was copied. */
  async undo(): Promise<void> {
    this.progress?.clear();
    try {
      for (const name of [manifestName(this.id), ...this.made]) await this.target.delete(name);
    } catch (error) {
      this.io.err(`varve backup: warning: cannot delete what was copied of ${this.id}: ${errorText(error)}\n`);
    }
  }

  private async copy(path: string, pieces: AsyncIterable<Uint8Array>, crc?: number): Promise<BackupFile> {
    const object = `${this.id}/${path}`;
    this.made.push(object);
    const summed = new SummedPieces(pieces, (byteLength) => this.check(byteLength));
    await this.target.write(object, summed);
    const sums = summed.sums();
    if (crc !== undefined && sums.crc !== crc) throw damaged(path, "it does not match the checksum of its entry");
    const file = { path, object, byteLength: sums.byteLength, sha256: sums.sha256, ...(crc === undefined ? {} : { crc }) };
    this.files.push(file);
    this.copiedBytes += sums.byteLength;
    return file;
  }

  /** @throws Error when the backup must not go on */
  private check(byteLength: number): void {
    if (this.failed !== undefined) throw new Error(`the backup was lost: ${errorText(this.failed)}`, { cause: this.failed });
    if (this.io.interrupted.aborted) throw new Error("interrupted; nothing of this backup stays");
    this.progress?.add(byteLength);
  }
}

function damaged(file: string, why: string): Error {
  return new Error(`cannot back up ${file}: ${why}; see varve check`);
}
