/**
 * Local files below the copy root. A file is written under a hidden name beside its own, synced, and renamed when it is whole.
 */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { DbError, errorText, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { FileAccess, FoundFile, NewFile, OpenFile } from "../../table/file-access.ts";
import { copyPath, isMissing, refusedName } from "./copy-path.ts";
import { FOLDER_FILES_MAX } from "./limits.ts";

const invalid = (message: string, cause?: unknown): DbError => invalidArguments(message, cause);

/** Why the system refused, in its words. */
function failed(what: string, location: string, thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  const refused = refusedName(location, thrown);
  if (refused !== undefined) return refused;
  const why = errorText(thrown);
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what} '${location}': ${why}`, { cause: thrown });
}

/** Files below a folder, which is made when the first is written. */
export function localFiles(copyRoot: string): FileAccess {
  const root = resolve(copyRoot);
  const files: FileAccess = {
    list: (location) => list(root, location),
    open: (location) => openFile(root, location),
    create: (location) => createFile(root, location),
    until: () => files, // the disk is waited for
  };
  return files;
}

async function list(root: string, location: string): Promise<readonly FoundFile[]> {
  const path = await copyPath(root, location);
  if (!location.endsWith("/")) {
    return [{ location, name: basename(path), byteLength: await sizeOf(path, location) }];
  }
  const found: FoundFile[] = [];
  try {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.name.startsWith(".") || entry.isDirectory()) continue;
      if (found.length === FOLDER_FILES_MAX) throw invalid(`cannot read folder '${location}': it has more than ${FOLDER_FILES_MAX} files`);
      const inside = location + entry.name;
      const { size, isFile } = await statOf(await copyPath(root, inside));
      if (isFile) found.push({ location: inside, name: entry.name, byteLength: size });
    }
  } catch (thrown) {
    if (isMissing(thrown)) throw invalid(`cannot read folder '${location}': there is none of that name below the copy root`, thrown);
    throw failed("read folder", location, thrown);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function statOf(path: string): Promise<{ readonly size: number; readonly isFile: boolean; readonly isFolder: boolean }> {
  const found = await stat(path);
  return { size: found.size, isFile: found.isFile(), isFolder: found.isDirectory() };
}

async function sizeOf(path: string, location: string): Promise<number> {
  try {
    const { size, isFile, isFolder } = await statOf(path);
    if (isFolder) throw invalid(`cannot read '${location}': it is a folder; write '${location}/' for all files in it`);
    // Pipes and devices may never end.
    if (!isFile) throw invalid(`cannot read '${location}': it is no regular file`);
    return size;
  } catch (thrown) {
    if (isMissing(thrown)) throw invalid(`cannot read '${location}': there is no such file below the copy root`, thrown);
    throw failed("read", location, thrown);
  }
}

async function openFile(root: string, location: string): Promise<OpenFile> {
  const path = await copyPath(root, location);
  await sizeOf(path, location);
  let handle: FileHandle;
  let byteLength: number;
  try {
    handle = await open(path, "r");
    byteLength = (await handle.stat()).size;
  } catch (thrown) {
    throw failed("open", location, thrown);
  }
  return {
    location,
    name: basename(path),
    byteLength,
    async read(offset, length) {
      const bytes = new Uint8Array(length);
      let filled = 0;
      try {
        while (filled < length) {
          const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
          if (bytesRead === 0) throw new Error(`it ends at byte ${offset + filled}, ${offset + length} were expected`);
          filled += bytesRead;
        }
      } catch (thrown) {
        throw failed("read", location, thrown);
      }
      return bytes;
    },
    close: () => handle.close(),
  };
}

async function createFile(root: string, location: string): Promise<NewFile> {
  const path = await copyPath(root, location);
  if (location.endsWith("/")) throw invalid(`cannot write '${location}': it is a folder; name a file in it`);
  const hidden = join(dirname(path), `.${basename(path).slice(0, 200)}.${crypto.randomUUID()}.tmp`);
  let handle: FileHandle;
  try {
    await mkdir(dirname(path), { recursive: true });
    await removeLeftOvers(path);
    handle = await open(hidden, "wx");
  } catch (thrown) {
    throw failed("write", location, thrown);
  }
  return new LocalNewFile(location, path, hidden, handle);
}

/** Milliseconds without a write after which a hidden file is nobody's. */
const LEFT_OVER_MILLIS = 3_600_000;
/** How the name of a hidden file ends. */
const HIDDEN_END = /^[0-9a-f-]{36}\.tmp$/;

/** Removes hidden files of a name that processes left which were killed; one that is still written has changed lately. */
async function removeLeftOvers(path: string): Promise<void> {
  const prefix = `.${basename(path).slice(0, 200)}.`;
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(prefix) || !HIDDEN_END.test(name.slice(prefix.length))) continue;
    const left = join(dirname(path), name);
    const mtimeMs = await stat(left).then(
      (found) => found.mtimeMs,
      () => Number.POSITIVE_INFINITY, // gone: it has its name now
    );
    if (systemClock.nowMillis() - mtimeMs > LEFT_OVER_MILLIS) await rm(left, { force: true });
  }
}

/** A file under its hidden name. */
class LocalNewFile implements NewFile {
  private readonly location: string;
  private readonly path: string;
  private readonly hidden: string;
  private readonly handle: FileHandle;

  constructor(location: string, path: string, hidden: string, handle: FileHandle) {
    this.location = location;
    this.path = path;
    this.hidden = hidden;
    this.handle = handle;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.handle.write(bytes, at)).bytesWritten;
    } catch (thrown) {
      throw failed("write", this.location, thrown);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.handle.sync();
      await this.handle.close();
      await rename(this.hidden, this.path);
      const folder = await open(dirname(this.path), "r");
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    } catch (thrown) {
      throw failed("finish", this.location, thrown);
    }
  }

  async abort(): Promise<void> {
    // The failure that led here is what the client is told; a hidden file that stays is no harm to readers.
    await Promise.allSettled([this.handle.close()]);
    await Promise.allSettled([rm(this.hidden, { force: true })]);
  }
}
