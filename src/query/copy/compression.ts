/**
 * Compressed text files: bytes → bytes, a piece at a time. gzip and zstd are the runtime's own; bzip2 and xz are read, never written.
 */
import { pipeline, Readable, type Transform } from "node:stream";
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from "node:zlib";
import { DbError, errorText, invalidArguments } from "../../base/error.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import { StatusCode } from "../../base/status-code.ts";
import { decompressBzip2 } from "../../format/bzip2/bzip2.ts";
import { ZstdFrames } from "../../format/zstd/frames.ts";
import { decompressXz } from "./xz.ts";

/** Known ways to compress. */
export const COMPRESSIONS = ["gzip", "zstd", "bzip2", "xz"] as const;

/** A way to compress. */
export type Compression = (typeof COMPRESSIONS)[number];

/** Bytes in pieces. */
export type Bytes = AsyncIterable<Uint8Array>;

/** First bytes of a compressed file. Those of bzip2 go on to its first block, since a text may begin with BZh. */
const MAGIC: Readonly<Record<Compression, RegExp>> = {
  gzip: /^1f8b08/,
  zstd: /^28b52ffd/,
  bzip2: /^425a683[1-9](314159265359|177245385090)/,
  xz: /^fd377a585a00/,
};

/** How a file is compressed that begins with these bytes; undefined: not at all. */
export function compressionOfBytes(head: Uint8Array): Compression | undefined {
  const text = head.subarray(0, 16).toHex();
  return COMPRESSIONS.find((name) => MAGIC[name].test(text));
}

/** Ways to compress that files can be written in. */
const WRITTEN = ["gzip", "zstd"] as const;

/** The way to compress, where files can be written in it. @throws DbError Unsupported */
export function writtenCompression(how: Compression): (typeof WRITTEN)[number] {
  const found = WRITTEN.find((name) => name === how);
  if (found !== undefined) return found;
  const why = `${how} is read only; use ${WRITTEN.join(", ")} or none`;
  throw new DbError(StatusCode.Unsupported, `cannot write a file compressed by ${how}: ${why}`);
}

/** Compressed pieces. @throws DbError Unsupported for what is read only */
export function compressed(bytes: Bytes, how: Compression): Bytes {
  switch (writtenCompression(how)) {
    case "gzip":
      return through(bytes, createGzip());
    case "zstd":
      return through(bytes, createZstdCompress());
  }
}

/** Unpacked pieces. @throws DbError InvalidArguments for what is damaged or cut off @param name of the file, for errors */
export async function* decompressed(bytes: Bytes, how: Compression, name: string, pace: Pace): Bytes {
  try {
    yield* unpacked(bytes, how, pace);
  } catch (thrown) {
    if (thrown instanceof DbError) throw thrown;
    const why = errorText(thrown);
    throw invalidArguments(`cannot read '${name}': it is no whole ${how} file: ${why}`, thrown);
  }
}

function unpacked(bytes: Bytes, how: Compression, pace: Pace): Bytes {
  switch (how) {
    case "gzip":
      return through(bytes, createGunzip());
    case "zstd":
      return wholeFrames(bytes);
    case "bzip2":
      return decompressBzip2(bytes, pace);
    case "xz":
      return decompressXz(bytes, pace);
  }
}

async function* wholeFrames(bytes: Bytes): Bytes {
  const frames = new ZstdFrames();
  const watched = async function* (): Bytes {
    for await (const piece of bytes) {
      frames.push(piece);
      yield piece;
    }
  };
  yield* through(watched(), createZstdDecompress());
  if (!frames.isWhole) throw new Error("it ends in the middle of a frame");
}

/** Errors of either end come out of the iteration; whoever stops it early ends both. */
async function* through(bytes: Bytes, transform: Transform): Bytes {
  pipeline(Readable.from(bytes, { objectMode: true, highWaterMark: 1 }), transform, () => {
    // Called with what the iteration below throws.
  });
  yield* transform as AsyncIterable<Uint8Array>;
}
