/** Backups in a folder: objects are files, written under another name, synced and renamed. */
import { mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type BackupTarget, PIECE_BYTES, type TargetObject } from "./target.ts";

/** Ends the names of files that are not whole yet. */
const PART = ".part";

/** See the file header. */
export function folderTarget(folder: string): BackupTarget {
  const pathOf = (name: string): string => join(folder, name);
  return {
    text: folder,
    folder,
    async list() {
      const found: TargetObject[] = [];
      for (const path of await filesOf(folder)) {
        if (path.endsWith(PART)) continue;
        found.push({ name: relative(folder, path), byteLength: (await stat(path)).size });
      }
      return found;
    },
    read: (name) => piecesOf(pathOf(name)),
    async write(name, pieces) {
      const path = pathOf(name);
      await makeFolders(folder, dirname(path));
      const part = `${path}${PART}`;
      try {
        await writeFile(part, pieces);
        await rename(part, path);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async delete(name) {
      await rm(pathOf(name), { force: true });
      await rm(`${pathOf(name)}${PART}`, { force: true });
      await removeEmpty(folder, dirname(pathOf(name)));
    },
  };
}

/** Pieces of a file from its begin to byte `end`, by default all of it. @throws Error when the file is shorter */
export async function* piecesOf(path: string, end?: number): AsyncGenerator<Uint8Array> {
  const file = await open(path, "r");
  try {
    const length = end ?? (await file.stat()).size;
    const buffer = new Uint8Array(Math.min(PIECE_BYTES, length));
    for (let at = 0; at < length; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, length - at), at);
      if (bytesRead === 0) throw new Error(`${path} has ${at} bytes, ${length} were expected`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Makes a file of pieces and syncs it. */
export async function writeFile(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "w");
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; ) at += (await file.write(piece, at, piece.length - at)).bytesWritten;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the entries of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Makes `path` and the folders between it and `root`, whose entries are durable then. */
export async function makeFolders(root: string, path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= Math.min(first.length, root.length) && made !== dirname(made); made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first) return;
  }
}

/** All files below a folder; none when it is not there. */
async function filesOf(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

async function removeEmpty(root: string, path: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : "";
      if (code === "ENOTEMPTY" || code === "EEXIST") return;
      if (code !== "ENOENT") throw error;
    }
  }
}
