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
import { dirname, join } from "node:path";
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
import { storePieces } from "../common/data-store.ts";
import type { ToolIo } from "../tool.ts";
import { checkApart } from "./apart.ts";
import { eachAtOnce } from "./copy-file.ts";
import { piecesOf } from "./folder-target.ts";
import { inPieces } from "./manifest.ts";
import { backupId } from "./moment.ts";
import { latestFiles, NewBackup, type TakenBackup } from "./new-backup.ts";
import type { BackupServer } from "./server-client.ts";
import type { BackupTarget } from "./target.ts";

const ABSENT =
  "it does not exist; see varve check, or, where the server's data files lie in an S3 store, name its configuration with --config-file";

/** Files that are copied at once: over a network each waits for answers. */
const COPIES_AT_ONCE = 4;
/** A lease is renewed so often. */
const RENEWALS_PER_LEASE = 4;

/**
 * See the file header.
 *
 * @param store that has the data files; undefined: they are in the server's folder
 * @throws Error; nothing of the backup stays in the target then, if it can be reached
 */
export async function takeBackup(target: BackupTarget, server: BackupServer, io: ToolIo, store?: RemoteFileStore): Promise<TakenBackup> {
  const earlier = await latestFiles(target);
  const begun = await server.begin();
  const backup = new NewBackup(target, backupId(begun.moment, begun.id), earlier, io);
  const taking = new Taking(begun, backup, store);
  const renewal = renewing(server, begun, backup);
  try {
    checkApart(target, [dirname(begun.dataFolder), begun.logFolder]);
    await taking.copyMeta();
    await taking.copyLogs();
    await server.releaseLog(begun.id);
    await taking.copyData();
    return await backup.finish({ kind: "server", id: backup.id, moment: begun.moment, sequence: begun.sequence });
  } catch (error) {
    await backup.undo();
    throw error;
  } finally {
    clearInterval(renewal);
    await ended(server, begun.id, io);
  }
}

function renewing(server: BackupServer, begun: BackupBegun, backup: NewBackup): ReturnType<typeof setInterval> {
  const renew = async (): Promise<void> => {
    try {
      await server.renew(begun.id);
    } catch (error) {
      backup.failed = error; // The next piece says so.
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

/** What is copied of a server. */
class Taking {
  private readonly begun: BackupBegun;
  private readonly backup: NewBackup;
  private readonly store: RemoteFileStore | undefined;
  private dataFiles: readonly DataFile[] = [];

  constructor(begun: BackupBegun, backup: NewBackup, store: RemoteFileStore | undefined) {
    this.begun = begun;
    this.backup = backup;
    this.store = store;
  }

  /** The copy of the meta store, which names the data files. */
  async copyMeta(): Promise<void> {
    const bytes = await readFile(this.begun.metaFile);
    await this.backup.copy("meta.db", inPieces(bytes));
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
    if (threads.length > 0) await this.backup.copy(`wal/${NAMES_FILE}`, inPieces(encodeThreadNames(threads)));
  }

  private async copyLog(path: string, segments: readonly SegmentPrefix[]): Promise<void> {
    for (const { path: source, end } of segments) {
      await this.backup.copy(`${path}/${String(end.id).padStart(10, "0")}.log`, piecesOf(source, end.bytes));
    }
    await this.backup.copy(`${path}/${ENDS_NAME}`, inPieces(encodeEnds(segments)));
  }

  /** Files that no earlier backup has. */
  async copyData(): Promise<void> {
    const { backup } = this;
    const missing = this.dataFiles.filter((file) => !backup.reuse(`data/${file.name}`, file));
    backup.show(missing.reduce((sum, { byteLength }) => sum + byteLength, 0));
    await eachAtOnce(missing, COPIES_AT_ONCE, (file) => this.copyDataFile(file));
    backup.hide();
  }

  private async copyDataFile(file: DataFile): Promise<void> {
    const { name } = file;
    const source = join(this.begun.dataFolder, name);
    if (this.store === undefined && !existsSync(source)) throw new Error(`cannot back up ${source}: ${ABSENT}`);
    await this.backup.copy(`data/${name}`, this.store === undefined ? piecesOf(source) : storePieces(this.store, name), file);
  }
}
