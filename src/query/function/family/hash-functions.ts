/** Digests, and binary as text. The runtime digests, but for BLAKE3, which it does not know. */
import { blake3 } from "@noble/hashes/blake3.js";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BINARY, type DataType, STRING } from "../../../column/data-type.ts";
import { type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isString } from "../signature/signature.ts";
import { type Present, textOf, type Value } from "../value/value.ts";

const bytesOf = (value: Value): Uint8Array => (value instanceof Uint8Array ? value : new TextEncoder().encode(textOf(value)));

const ALGORITHMS: Readonly<Record<string, "md5" | "sha224" | "sha256" | "sha384" | "sha512" | "blake2s256" | "blake2b512">> = {
  md5: "md5",
  sha224: "sha224",
  sha256: "sha256",
  sha384: "sha384",
  sha512: "sha512",
  blake2s: "blake2s256",
  blake2b: "blake2b512",
};

function digest(algorithm: string, value: Present): Uint8Array {
  if (algorithm === "blake3") return blake3(bytesOf(value));
  const name = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm] : undefined;
  if (name === undefined) {
    const why = `there is no digest '${algorithm.slice(0, 40)}'; use one of ${Object.keys(ALGORITHMS).join(", ")}, blake3`;
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot compute a digest: ${why}`);
  }
  return new Uint8Array(new Bun.CryptoHasher(name).update(bytesOf(value)).digest());
}

/** Text or binary, then texts. */
function bytesAndTexts(count: number, result: DataType): ScalarFunction["resolve"] {
  return ([value, ...rest]) => {
    if (value === undefined || rest.length !== count || !rest.every(isString)) return undefined;
    const isBytes = value.kind === "binary" || value.kind === "vector";
    return isBytes || isString(value) ? { args: [isBytes ? value : STRING, ...rest.map(() => STRING)], result } : undefined;
  };
}

function encode(value: Present, form: string): string {
  if (form === "hex") return bytesOf(value).toHex();
  if (form === "base64") return bytesOf(value).toBase64({ omitPadding: true });
  if (form === "base64pad") return bytesOf(value).toBase64();
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot encode as '${form.slice(0, 40)}': use 'hex', 'base64' or 'base64pad'`);
}

function decode(value: Present, form: string): Uint8Array {
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : textOf(value);
  try {
    if (form === "hex") return Uint8Array.fromHex(text);
    if (form === "base64" || form === "base64pad") return Uint8Array.fromBase64(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot decode '${text.slice(0, 80)}': it is no ${form} text`, { cause });
  }
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot decode '${form.slice(0, 40)}': use 'hex', 'base64' or 'base64pad'`);
}

/** The functions of this file. */
export const HASH_FUNCTIONS: readonly ScalarFunction[] = [
  strict("md5(text)", bytesAndTexts(0, STRING), ([value]) => digest("md5", value as Present).toHex()),
  ...["sha224", "sha256", "sha384", "sha512"].map((name) =>
    strict(`${name}(text)`, bytesAndTexts(0, BINARY), ([value]) => digest(name, value as Present)),
  ),
  strict("digest(text, algorithm)", bytesAndTexts(1, BINARY), ([value, name]) => digest(textOf(name).toLowerCase(), value as Present)),
  strict("encode(binary, 'hex' | 'base64')", bytesAndTexts(1, STRING), ([value, form]) => encode(value as Present, textOf(form))),
  strict("decode(text, 'hex' | 'base64')", bytesAndTexts(1, BINARY), ([value, form]) => decode(value as Present, textOf(form))),
];
