/**
 * How messages are compressed: gzip and zstd, by the runtime. Both tell how long a message is unfolded, gzip in its last four bytes
 * (RFC 1952), zstd in its frames (RFC 8878), or at most by their blocks: tonic, and with it GreptimeDB's ingesters, write frames without
 * their size. What is cut off or tells too much is refused before, what unfolds to more while it does.
 */
import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { errorText } from "../../../base/error.ts";
import { zstdContentSize, zstdSizeMax } from "../../../format/zstd/frames.ts";
import { wrapped } from "./raw-message.ts";

/** Flag of a packed message. */
export const COMPRESSED = 1;

const unpackGzip = promisify(gunzip);
const unpackZstd = promisify(zstdDecompress);

const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

type Unpack = (bytes: Uint8Array, options: { readonly maxOutputLength: number; readonly chunkSize: number }) => Promise<Uint8Array>;

const gzip: Compression = { ...compressionGzip, decompress: (bytes, max) => unfolded("gzip", unpackGzip, bytes, max) };

const zstd: Compression = {
  name: "zstd",
  compress: async (bytes) => owned(await Bun.zstdCompress(bytes)),
  decompress: (bytes, max) => unfolded("zstd", unpackZstd, bytes, max),
};

/** In the order in which answers prefer them. */
export const COMPRESSIONS: Compression[] = [gzip, zstd];

/** The same, for messages that the library shall get wrapped (raw-message.ts). */
export const WRAPPING_COMPRESSIONS: Compression[] = COMPRESSIONS.map((compression) => ({
  ...compression,
  decompress: async (bytes, max) => wrapped(await compression.decompress(bytes, max)),
}));

/**
 * Most bytes that a packed message unfolds to; 0 for a packing that nobody here knows, which the transport refuses.
 *
 * @throws ConnectError RESOURCE_EXHAUSTED when that is more than `bytesMax`, INVALID_ARGUMENT when it is cut off
 */
export function unfoldedBytes(encoding: string, bytes: Uint8Array, bytesMax: number): number {
  const size = encoding === "zstd" ? zstdBytes(bytes, bytesMax) : encoding === "gzip" ? gzipBytes(bytes) : 0;
  if (size === undefined) throw new ConnectError(`cannot unfold the message: it is no whole ${encoding}`, Code.InvalidArgument);
  if (size > bytesMax) throw tooLong(`${size} bytes`, bytesMax);
  return size;
}

function tooLong(size: string, bytesMax: number): ConnectError {
  const why = `it has ${size}, and at most ${bytesMax} are taken (grpc.max_recv_message_size)`;
  return new ConnectError(`cannot unfold the message: ${why}`, Code.ResourceExhausted);
}

function gzipBytes(bytes: Uint8Array): number {
  if (bytes.length < SIZE_BYTES) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset + bytes.length - SIZE_BYTES).getUint32(0, true);
}

/** Of frames without a size the most that they hold, which may be far from the truth: they are unfolded up to the limit. */
function zstdBytes(bytes: Uint8Array, bytesMax: number): number | undefined {
  const most = zstdSizeMax(bytes);
  return most === undefined || zstdContentSize(bytes) !== undefined ? most : Math.min(most, bytesMax);
}

/** Of gzip's size, at its end. */
const SIZE_BYTES = 4;

async function unfolded(name: string, unpack: Unpack, bytes: Uint8Array, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.length === 0) return NOTHING;
  const size = unfoldedBytes(name, bytes, bytesMax);
  try {
    // One byte at least: a limit of none is no limit. In one piece: pieces of 16 KiB, joined, take 95 to 118 ms of the thread for 58 MiB,
    // 45 of them at once; this takes 5 to 7, 1 at once. The system gives the memory, which is counted, page by page as it is filled.
    return owned(await unpack(bytes, { maxOutputLength: Math.max(1, size), chunkSize: Math.max(CHUNK_BYTES_MIN, size) }));
  } catch (cause) {
    if (size === bytesMax && cause instanceof RangeError) throw tooLong(`more than ${size} bytes`, bytesMax);
    const why = `cannot unfold the message: it is no ${name} of up to ${size} bytes: ${errorText(cause, SHOWN_CHARACTERS_MAX)}`;
    throw new ConnectError(why, Code.InvalidArgument, undefined, undefined, cause);
  }
}

/** What the runtime asks for at least. */
const CHUNK_BYTES_MIN = 64;
/** Characters of the runtime's reason that are shown. */
const SHOWN_CHARACTERS_MAX = 200;

function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>; // The runtime makes it, on memory of its own.
}
