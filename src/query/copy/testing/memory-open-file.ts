import type { OpenFile } from "../../../table/file-access.ts";

/** A file that lies in memory, for tests. */
export function memoryFile(bytes: Uint8Array, name = "f"): OpenFile {
  return {
    location: name,
    name,
    byteLength: bytes.length,
    read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > bytes.length) throw new RangeError(`bytes ${offset}+${length} of ${bytes.length}`);
      return Promise.resolve(new Uint8Array(bytes.subarray(offset, offset + length)));
    },
    close: () => Promise.resolve(),
  };
}
