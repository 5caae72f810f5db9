/** How messages are compressed: gzip by the runtime's zlib, zstd by the runtime's own. Neither unfolds a message past the limit. */
import { compressionGzip } from "@connectrpc/connect-node";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { zstdContentSize } from "../../format/zstd/frames.ts";

const zstd: Compression = {
  name: "zstd",
  compress: async (bytes) => owned(await Bun.zstdCompress(bytes)),
  async decompress(bytes, readMaxBytes) {
    if (bytes.length === 0) return new Uint8Array(0);
    const size = zstdContentSize(bytes);
    // A frame that does not say its size could unfold to anything: what clients write in one piece says it.
    if (size === undefined || size > readMaxBytes) {
      const what = size === undefined ? "does not say its size" : `has ${size} bytes`;
      throw new ConnectError(`a message in zstd ${what}, and at most ${readMaxBytes} are taken`, Code.ResourceExhausted);
    }
    try {
      return owned(await Bun.zstdDecompress(bytes));
    } catch (cause) {
      throw new ConnectError("a message in zstd is damaged", Code.InvalidArgument, undefined, undefined, cause);
    }
  },
};

function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>; // The runtime makes it, on memory of its own.
}

/** In the order in which answers prefer them. */
export const COMPRESSIONS: Compression[] = [compressionGzip, zstd];
