/** A target of backups in memory. */
import type { BackupTarget } from "../../src/tools/backup/target.ts";

/** A target, and its objects by name. */
export interface MemoryTarget extends BackupTarget {
  readonly objects: Map<string, Uint8Array>;
}

/** See the file header. @param pieceBytes how objects come when they are read */
export function memoryTarget(pieceBytes = 1000): MemoryTarget {
  const objects = new Map<string, Uint8Array>();
  return {
    text: "memory",
    objects,
    list: async () => Array.from(objects, ([name, bytes]) => ({ name, byteLength: bytes.length })),
    async *read(name) {
      const bytes = objects.get(name);
      if (bytes === undefined) throw new Error(`there is no ${name}`);
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    },
    async write(name, pieces) {
      const parts: Uint8Array[] = [];
      for await (const piece of pieces) parts.push(piece.slice());
      objects.set(name, new Uint8Array(Buffer.concat(parts)));
    },
    async delete(name) {
      objects.delete(name);
    },
  };
}
