import { isAbsolute, relative, resolve } from "node:path";
import type { BackupTarget } from "./target.ts";

/**
 * Refuses a target that lies in a folder of the store: a disk that takes the store away would take its backups too, and a check would find
 * them in it.
 *
 * @param owns folders of the store
 * @throws Error
 */
export function checkApart({ folder }: BackupTarget, owns: readonly string[]): void {
  if (folder === undefined) return;
  for (const own of owns) {
    const below = relative(own, resolve(folder));
    if (below === "" || !(below.startsWith("..") || isAbsolute(below))) {
      throw new Error(`cannot back up to ${folder}: it lies in ${own}, which is the store's own; name another folder`);
    }
  }
}
