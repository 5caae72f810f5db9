/** Files as a map from names to bytes, with the same manners as the local store: nothing is seen before it is finished. */
import { corrupted } from "../../base/error.ts";
import type { FileStore } from "./file-store.ts";

/** A store in memory, for tests and rehearsals. `files` is its content. */
export function memoryFileStore(files: Map<string, Uint8Array> = new Map()): FileStore {
  return {
    async create(name) {
      const parts: Uint8Array[] = [];
      return {
        write: (bytes) => void parts.push(bytes.slice()),
        async finish() {
          const whole = new Uint8Array(Buffer.concat(parts));
          files.set(name, whole);
          return whole.length;
        },
        async abort() {
          parts.length = 0;
        },
      };
    },
    async open(name) {
      const bytes = files.get(name);
      if (bytes === undefined) {
        throw corrupted(`cannot open file ${name}: it does not exist`, { file: name, offset: undefined, kind: "missing" });
      }
      return {
        byteLength: bytes.length,
        read(offset, length) {
          if (offset + length > bytes.length) {
            throw corrupted(`cannot read ${length} bytes at ${offset} of file ${name}: it ends at byte ${bytes.length}`, {
              file: name,
              offset: bytes.length,
              kind: "length",
            });
          }
          return bytes.slice(offset, offset + length);
        },
        close: () => undefined,
      };
    },
    sizeOf: (name) => files.get(name)?.length,
    async delete(name) {
      files.delete(name);
    },
    async list(folder) {
      return [...files.keys()].filter((name) => name.startsWith(`${folder}/`));
    },
    async deleteFolder(folder) {
      for (const name of files.keys()) if (name.startsWith(`${folder}/`)) files.delete(name);
    },
  };
}
