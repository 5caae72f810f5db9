import { readFileSync } from "node:fs";
import { totalmem } from "node:os";

/** Where the kernel says what a container may take: version 2 and version 1 of control groups. */
const GROUP_FILES: readonly string[] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/** Bytes of memory that this process may take: those of its container, at most those of the machine. */
export function machineMemoryBytes(readText: (path: string) => string = readSystemFile): number {
  let bytes = totalmem();
  for (const path of GROUP_FILES) {
    let text: string;
    try {
      text = readText(path).trim();
    } catch (error) {
      if (error instanceof Error) continue; // Not in a container of this kind.
      throw error;
    }
    if (/^\d+$/.test(text) && Number(text) > 0) bytes = Math.min(bytes, Number(text)); // "max" is no limit.
  }
  return bytes;
}

function readSystemFile(path: string): string {
  return readFileSync(path, "utf8");
}
