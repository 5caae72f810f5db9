import { dirname, resolve } from "node:path";
import { failPoint } from "../../base/process/fail-point.ts";
import { type FileDisk, systemFileDisk } from "./file-disk.ts";
import { FolderSyncs } from "./folder-syncs.ts";

/** Where folders are made. */
export interface FolderPlace {
  /** Folders above this one are nobody's business unless they have to be made. Default: the folder itself. */
  readonly top?: string;
  /** Folders known to be durable; the ones that are made here join them. Default: none is known. */
  readonly known?: Set<string>;
  readonly disk?: FileDisk;
  /** Syncs that are shared with others who make folders and files beside each other. Default: nobody does. */
  readonly syncs?: FolderSyncs;
}

/**
 * Makes a folder and its missing parents so that all their entries survive a power loss. A folder that is there already may have been made
 * by a process that was killed before it synced the entry, so it is synced unless it is `known`.
 *
 * @throws the system's error
 */
export async function makeFolder(path: string, place: FolderPlace = {}): Promise<void> {
  const { top = path, known = new Set<string>(), disk = systemFileDisk } = place;
  const syncs = place.syncs ?? new FolderSyncs(disk);
  const folder = resolve(path);
  if (known.has(folder)) return;
  const isTop = folder === resolve(top);
  if (!isTop) await makeFolder(dirname(folder), { top, known, disk, syncs });
  const first = disk.makeFolder(folder);
  if (first !== undefined) failPoint("file.folder-made");
  const last = dirname(resolve(first ?? folder));
  for (let changed = dirname(folder); ; changed = dirname(changed)) {
    await syncEntries(syncs, changed, first !== undefined);
    if (changed === last || changed === dirname(changed)) break;
  }
  known.add(folder);
}

/** A parent that this process may not even read is one in which it never made a folder. */
async function syncEntries(syncs: FolderSyncs, parent: string, hasMade: boolean): Promise<void> {
  try {
    await syncs.sync(parent);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (hasMade || code !== "EACCES") throw error;
  }
}
