/**
 * Vectors of 32-bit floats, the type VECTOR(n): n little-endian floats, 4n bytes, and their text `[1,2.5,3]`.
 */
import { shortestFloat32 } from "./float32.ts";
import { floatOfText } from "./number-text.ts";

/** Why a text is no vector, in the words of the contract (query.md 1.6). */
export type EmbeddingProblem = "not properly enclosed in brackets" | "elements are not all float32" | "wrong dimension";

/** Bytes of one element. */
const ELEMENT_BYTES = 4;

/** The bytes of `[1.0, 2.0]`, or why there are none. `dimension` undefined: any number of elements. */
export function embeddingOfText(
  text: string,
  dimension: number | undefined,
): { readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly why: EmbeddingProblem } {
  const trimmed = text.trim();
  if (!trimmed.startsWith("[") || !trimmed.endsWith("]") || trimmed.length < 2)
    return { ok: false, why: "not properly enclosed in brackets" };
  const inner = trimmed.slice(1, -1);
  const elements = inner.trim() === "" ? [] : inner.split(",");
  const bytes = new Uint8Array(elements.length * ELEMENT_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [i, element] of elements.entries()) {
    const value = floatOfText(element.trim());
    if (value === undefined) return { ok: false, why: "elements are not all float32" };
    view.setFloat32(i * ELEMENT_BYTES, value, true);
  }
  return dimension !== undefined && elements.length !== dimension ? { ok: false, why: "wrong dimension" } : { ok: true, bytes };
}

/** `[1,2.5,3]`: whole numbers without a point, others with the shortest digits that read back as 32-bit floats. */
export function embeddingText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts: string[] = [];
  for (let at = 0; at + ELEMENT_BYTES <= bytes.length; at += ELEMENT_BYTES) texts.push(float32Text(view.getFloat32(at, true)));
  return `[${texts.join(",")}]`;
}

function float32Text(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value)) return Object.is(value, -0) ? "-0" : String(BigInt(value));
  return plain(String(shortestFloat32(value)));
}

/** Digits without an exponent: 1.5e-7 is 0.00000015. */
function plain(text: string): string {
  const [mantissa = "", exponent] = text.split("e");
  if (exponent === undefined) return mantissa;
  const negative = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace("-", "").replace(".", "");
  // Only fractions come here, and those that are printed with an exponent are below 1e-6.
  return `${negative}0.${"0".repeat(-Number(exponent) - 1)}${digits}`;
}
