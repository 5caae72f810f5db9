import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and its missing parents so that all their entries survive a power loss.
 *
 * @throws the system's error
 */
export function makeFolder(path: string): void {
  const folder = resolve(path);
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  const last = dirname(resolve(first));
  for (let changed = folder; ; changed = dirname(changed)) {
    syncFolder(changed);
    if (changed === last || changed === dirname(changed)) return;
  }
}

/** Makes the entries of a folder durable: names that were added, replaced or removed. @throws the system's error */
export function syncFolder(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
