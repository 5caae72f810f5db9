/** Streams of bytes for tests of codecs. */

/** Bytes in pieces of one length. */
export async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** All bytes of a stream. */
export async function joined(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece.slice());
  return new Uint8Array(Buffer.concat(pieces));
}

/** Names of contents. */
export type PackedSample = "nothing" | "one byte" | "a long run" | "short runs" | "a repeated text" | "noise";

/** Contents that packers find easy, hard and odd. */
export const PACKED_SAMPLES: Readonly<Record<PackedSample, Uint8Array>> = {
  nothing: new Uint8Array(0),
  "one byte": Uint8Array.of(7),
  "a long run": new Uint8Array(150_000),
  "short runs": Uint8Array.from({ length: 2000 }, (_, i) => Math.floor(Math.sqrt(i))),
  "a repeated text": new TextEncoder().encode("abcabd".repeat(3000)),
  noise: Uint8Array.from({ length: 700 }, (_, i) => Math.imul(Math.imul(i + 1, 0x9e3779b1) >>> 7, 0x85ebca6b) >>> 24),
};
