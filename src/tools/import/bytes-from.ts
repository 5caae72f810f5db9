/** The bytes of a file from a place on: sought where the file is plain, unpacked and thrown away where it is compressed. */
import type { Pace } from "../../base/scheduler/pace.ts";
import { type Bytes, compressionOfBytes, decompressed } from "../../query/copy/compression.ts";
import type { OpenFile } from "../../table/file-access.ts";

/** Bytes that are read at a time. */
const READ_BYTES: number = 1024 * 1024;

/** How a file is packed; "none": it is plain. */
export async function packingOf(file: OpenFile): Promise<string> {
  return compressionOfBytes(await file.read(0, Math.min(16, file.byteLength))) ?? "none";
}

/** See the file header. @param onRead told how far the file itself was read */
export async function* bytesFrom(file: OpenFile, at: number, pace: Pace, onRead: (bytes: number) => void): Bytes {
  const how = compressionOfBytes(await file.read(0, Math.min(16, file.byteLength)));
  if (how === undefined) {
    yield* plainBytes(file, at, onRead);
    return;
  }
  let left = at;
  for await (const piece of decompressed(plainBytes(file, 0, onRead), how, file.location, pace)) {
    if (left >= piece.length) left -= piece.length;
    else {
      yield left === 0 ? piece : piece.subarray(left);
      left = 0;
    }
  }
}

async function* plainBytes(file: OpenFile, from: number, onRead: (bytes: number) => void): Bytes {
  for (let at = from; at < file.byteLength; at += READ_BYTES) {
    yield await file.read(at, Math.min(READ_BYTES, file.byteLength - at));
    onRead(Math.min(at + READ_BYTES, file.byteLength));
  }
}
