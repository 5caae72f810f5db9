/**
 * Restores a backup into a new data directory.
 *
 *   pick ─► read every object and hold it against its SHA-256 ─► only then: data directory made and locked ─► files ─► meta.db last
 *
 * All objects are read twice: what is damaged is refused before anything is written, and what is written is held against its SHA-256 again.
 */
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorText } from "../../base/error.ts";
import { lockDataDirectory } from "../../storage/data-directory.ts";
import { ByteProgress } from "../common/byte-progress.ts";
import type { ToolIo } from "../tool.ts";
import { eachAtOnce, SummedPieces } from "./copy-file.ts";
import { makeFolders, syncFolder, writeFile } from "./folder-target.ts";
import { type BackupFile, type FoundBackup, findBackups, type Manifest, type ServerManifest } from "./manifest.ts";
import { momentText } from "./moment.ts";
import type { BackupTarget } from "./target.ts";

/** Objects that are read at once. */
const READS_AT_ONCE = 4;

/** Which backup: by its id, or the latest at or before a moment in milliseconds; the latest of all otherwise. */
export interface WantedBackup {
  readonly id?: string | undefined;
  readonly at?: number | undefined;
}

/** Where a backup is restored to. */
export interface RestorePlace {
  readonly home: string;
  readonly logFolder: string;
}

/** The backup that is wanted. @throws Error when there is none, or the one that it would be is not whole */
export async function pickBackup(target: BackupTarget, { id, at }: WantedBackup): Promise<Manifest> {
  const all = await findBackups(target);
  if (id !== undefined) {
    const named = all.find((found) => found.id === id);
    if (named === undefined) throw new Error(`there is no backup ${id} in ${target.text}; see varve backup --list`);
    if (named.kind === "whole") return named.manifest;
    throw new Error(`backup ${id} cannot be restored: ${named.kind === "damaged" ? named.why : "it was not finished"}`);
  }
  const last = all.findLast(
    (found) => found.kind !== "unfinished" && (at === undefined || momentOf(found) <= momentText(at).replace(/[-:.]/g, "")),
  );
  if (last === undefined) {
    const when = at === undefined ? "" : ` of ${momentText(at)} or before`;
    throw new Error(`there is no backup${when} in ${target.text}`);
  }
  if (last.kind === "whole") return last.manifest;
  // Not silently an older one: whoever wants that says so.
  throw new Error(`backup ${last.id} cannot be restored: ${last.kind === "damaged" ? last.why : ""}; --backup names another`);
}

/** After which nothing of a backup is. Moments of ids sort as texts do; the backup of a cluster takes some time behind its. */
function momentOf(found: FoundBackup): string {
  if (found.kind === "whole" && found.manifest.kind === "cluster") return momentText(found.manifest.until).replace(/[-:.]/g, "");
  return found.id.slice(0, found.id.indexOf("-"));
}

/** Restores a backup. @throws Error; what was not there before is not there after it */
export async function restoreBackup(target: BackupTarget, manifest: ServerManifest, place: RestorePlace, io: ToolIo): Promise<void> {
  for (const folder of [place.home, place.logFolder]) await checkEmpty(folder);
  await verifyBackup(target, manifest, io);
  const directory = await lockDataDirectory(place.home);
  try {
    await writeAll(target, manifest, place, io);
  } catch (error) {
    await undo(place);
    throw error;
  } finally {
    directory.unlock();
  }
}

/** Reads all objects of a backup. @throws Error naming the first that is not as it was written */
export async function verifyBackup(target: BackupTarget, { files }: Manifest, io: ToolIo): Promise<void> {
  const progress = new ByteProgress(io, "reading", sizeOf(files));
  try {
    await eachAtOnce(files, READS_AT_ONCE, async (file) => {
      const pieces = new SummedPieces(target.read(file.object), (byteLength) => {
        checkInterrupted(io);
        progress.add(byteLength);
      });
      checkSums(file, await pieces.drained());
    });
  } finally {
    progress.clear();
  }
}

async function writeAll(target: BackupTarget, { files }: Manifest, place: RestorePlace, io: ToolIo): Promise<void> {
  const progress = new ByteProgress(io, "restoring", sizeOf(files));
  const restore = async (file: BackupFile): Promise<void> => {
    const path = pathOf(file.path, place);
    await makeFolders(place.home, dirname(path));
    const pieces = new SummedPieces(target.read(file.object), (byteLength) => {
      checkInterrupted(io);
      progress.add(byteLength);
    });
    await writeFile(path, pieces);
    checkSums(file, pieces.sums());
    await syncFolder(dirname(path));
  };
  try {
    const isMeta = (file: BackupFile): boolean => file.path === "meta.db";
    await eachAtOnce(
      files.filter((file) => !isMeta(file)),
      READS_AT_ONCE,
      restore,
    );
    for (const file of files.filter(isMeta)) await restore(file); // Without it a server refuses the directory.
  } finally {
    progress.clear();
  }
}

function pathOf(path: string, { home, logFolder }: RestorePlace): string {
  return path.startsWith("wal/") ? join(logFolder, path.slice("wal/".length)) : join(home, path);
}

/** @throws Error when there is something */
async function checkEmpty(folder: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw new Error(`cannot restore to ${folder}: ${errorText(error)}`, { cause: error });
  }
  if (names.length > 0) throw new Error(`cannot restore to ${folder}: it is not empty; name a folder that is, or does not exist`);
}

/** Empties the folders: they were empty, or not there. */
async function undo({ home, logFolder }: RestorePlace): Promise<void> {
  for (const folder of [logFolder, home]) {
    for (const name of await readdir(folder).catch(() => [] as string[])) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** @throws Error: an object is not what it was */
export function checkSums(
  { object, byteLength, sha256 }: BackupFile,
  sums: { readonly byteLength: number; readonly sha256: string },
): void {
  if (sums.byteLength === byteLength && sums.sha256 === sha256) return;
  throw new Error(`the backup is damaged: ${object} is not as it was written; nothing is restored`);
}

function checkInterrupted({ interrupted }: ToolIo): void {
  if (interrupted.aborted) throw new Error("interrupted; nothing is restored");
}

function sizeOf(files: readonly BackupFile[]): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
