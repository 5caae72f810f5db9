/** The elements of vectors of 32-bit floats, and back. */
import { type DbError } from "../../../base/error.ts";
import { toEmbedding } from "../../../value/cast-document.ts";
import type { Present } from "./value.ts";
import { executionError } from "./execution-error.ts";

/** The elements of a vector that is given as bytes or as text. @throws DbError InvalidArguments */
export function elementsOf(vector: Present | undefined): Float32Array {
  const bytes = toEmbedding(vector as Present);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.length >> 2 }, (_, i) => view.getFloat32(i * 4, true));
}

/** The bytes of a vector, little-endian. */
export function bytesOfElements(elements: Float32Array): Uint8Array {
  const bytes = new Uint8Array(elements.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, element] of elements.entries()) view.setFloat32(i * 4, element, true);
  return bytes;
}

/** The error of two vectors of other lengths. */
export function lengthsDiffer(name: string, a: number, b: number): DbError {
  return executionError(`vectors length not match: ${name}: ${a} and ${b} elements`);
}
