/**
 * Request bodies with a Content-Encoding. The decoders are given the output limit, so a bomb stops as soon as it passes the limit.
 */
import { errorText } from "../../../base/error.ts";
import { isWholeZstd, zstdContentSize } from "../../../format/zstd/frames.ts";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { INLINE_DECODE_BYTES_MAX, UNFOLD_RATIO } from "../limits.ts";

/** Codings of request bodies. */
export type Coding = "gzip" | "deflate" | "br" | "zstd";

/** Outcome of decoding: bytes, or why there are none. */
export type Decoded = Uint8Array | { readonly kind: "too-large" } | { readonly kind: "broken"; readonly reason: string };

interface OutputLimit {
  readonly maxOutputLength: number;
}

interface Decoder {
  sync(bytes: Uint8Array, options: OutputLimit): Uint8Array;
  pooled(bytes: Uint8Array, options: OutputLimit): Promise<Uint8Array>;
}

const INFLATE: Decoder = { sync: zlib.inflateSync, pooled: promisify(zlib.inflate) };
const INFLATE_RAW: Decoder = { sync: zlib.inflateRawSync, pooled: promisify(zlib.inflateRaw) };
const DECODERS: Readonly<Record<Coding, Decoder>> = {
  gzip: { sync: zlib.gunzipSync, pooled: promisify(zlib.gunzip) },
  deflate: INFLATE,
  br: { sync: zlib.brotliDecompressSync, pooled: promisify(zlib.brotliDecompress) },
  zstd: { sync: zlib.zstdDecompressSync, pooled: promisify(zlib.zstdDecompress) },
};

/** The coding of a Content-Encoding header; undefined when there is nothing to decode: absent, identity, or unknown to us. */
export function codingOf(header: string | null): Coding | undefined {
  switch (header?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "deflate":
      return "deflate";
    case "br":
      return "br";
    case "zstd":
      return "zstd";
    default:
      return undefined;
  }
}

/**
 * Bytes that a body probably unfolds to: as it says itself (the last 4 bytes of gzip, RFC 1952; the frame header of zstd, RFC 8878), else
 * `UNFOLD_RATIO` times its length. A client can lie, so it is a guess and no limit.
 */
export function expectedBytes(bytes: Uint8Array, coding: Coding): number {
  const said = coding === "gzip" ? gzipSize(bytes) : coding === "zstd" ? zstdContentSize(bytes) : undefined;
  // More than that is seldom, and then the body is decoded again: no memory is waited for because of a lie.
  const isBelieved = said !== undefined && said <= Math.max(bytes.length * SAID_RATIO_MAX, coding === "zstd" ? SAID_BYTES : 0);
  return Math.max(1, isBelieved ? said : bytes.length * UNFOLD_RATIO);
}

/** Times its length that a body is believed to unfold to. Gzip cannot unfold further. */
const SAID_RATIO_MAX = 1032;

/** What zstd, which unfolds further, is believed in any case. */
const SAID_BYTES: number = 256 * 1024;

/** Size of the last member; undefined when the bytes are too few for one. */
function gzipSize(bytes: Uint8Array): number | undefined {
  if (bytes.length < 18) return undefined;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(bytes.length - 4, true);
}

/** Decodes a whole body. `bytesMax` = most bytes of output. */
export async function decompress(bytes: Uint8Array, coding: Coding, bytesMax: number): Promise<Decoded> {
  if (bytes.length === 0) return bytes;
  if (coding === "zstd" && !isWholeZstd(bytes)) return { kind: "broken", reason: "not whole zstd frames" };
  const decoder = coding === "deflate" && !isZlib(bytes) ? INFLATE_RAW : DECODERS[coding];
  const options = { maxOutputLength: bytesMax };
  try {
    if (bytes.length <= INLINE_DECODE_BYTES_MAX) return decoder.sync(bytes, options);
    return await decoder.pooled(bytes, options);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") return { kind: "too-large" };
    return { kind: "broken", reason: errorText(error) };
  }
}

/** "deflate" means a zlib stream (RFC 9110), but some clients send it without the zlib header. */
function isZlib(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}
