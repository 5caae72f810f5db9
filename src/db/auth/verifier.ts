/**
 * What is stored of a password, and whether a password matches it. Source: contract http.md 5.2; RFC 8018 (PBKDF2), RFC 5802 (SCRAM).
 *
 * Every comparison is of digests of one length in constant time, so neither the length nor a common start of a password shows.
 */
import { createHash, createHmac, pbkdf2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { unreachable } from "../../base/assert.ts";
import { PASSWORD_ITERATIONS_MAX, PASSWORD_SALT_BYTES_MAX } from "../../base/limits.ts";
import { saslprep } from "./saslprep.ts";

/** What is stored of a password. */
export type Verifier =
  | { readonly kind: "plain"; readonly password: string }
  | { readonly kind: "pbkdf2_sha256"; readonly iterations: number; readonly salt: Uint8Array; readonly hash: Uint8Array }
  | {
      readonly kind: "pg_scram_sha256";
      readonly iterations: number;
      readonly salt: Uint8Array;
      readonly storedKey: Uint8Array;
      readonly serverKey: Uint8Array;
    }
  /** SHA1(SHA1(password)): serves the native handshake of MySQL clients only, never matches a password. */
  | { readonly kind: "mysql_native_password"; readonly doubleSha1: Uint8Array };

const SHA1_BYTES = 20;
const SHA256_BYTES = 32;

const derive = promisify(pbkdf2);

/** Reads the right side of a credential line; undefined: a known prefix with a bad payload. What has no known prefix is a password. */
export function parseVerifier(text: string): Verifier | undefined {
  const colon = text.indexOf(":");
  const prefix = colon < 0 ? "" : text.slice(0, colon);
  const payload = text.slice(colon + 1);
  const parts = payload.split(":");
  switch (prefix) {
    case "plain":
      return { kind: "plain", password: payload };
    case "pbkdf2_sha256": {
      const iterations = parseIterations(parts[0]);
      const salt = parseSalt(parts[1]);
      const hash = parseHex(parts[2], SHA256_BYTES);
      if (parts.length !== 3 || iterations === undefined || salt === undefined || hash === undefined) return undefined;
      return { kind: "pbkdf2_sha256", iterations, salt, hash };
    }
    case "pg_scram_sha256": {
      const iterations = parseIterations(parts[0]);
      const salt = parseSalt(parts[1]);
      const storedKey = parseHex(parts[2], SHA256_BYTES);
      const serverKey = parseHex(parts[3], SHA256_BYTES);
      if (parts.length !== 4 || iterations === undefined || salt === undefined) return undefined;
      if (storedKey === undefined || serverKey === undefined) return undefined;
      return { kind: "pg_scram_sha256", iterations, salt, storedKey, serverKey };
    }
    case "mysql_native_password": {
      const doubleSha1 = parseHex(payload, SHA1_BYTES);
      return doubleSha1 === undefined ? undefined : { kind: "mysql_native_password", doubleSha1 };
    }
    default:
      return { kind: "plain", password: text };
  }
}

/** Prints a verifier as `parseVerifier` reads it. A plain password keeps its prefix. */
export function printVerifier(verifier: Verifier): string {
  switch (verifier.kind) {
    case "plain":
      return `plain:${verifier.password}`;
    case "pbkdf2_sha256":
      return `pbkdf2_sha256:${verifier.iterations}:${hex(verifier.salt)}:${hex(verifier.hash)}`;
    case "pg_scram_sha256":
      return `pg_scram_sha256:${verifier.iterations}:${hex(verifier.salt)}:${hex(verifier.storedKey)}:${hex(verifier.serverKey)}`;
    case "mysql_native_password":
      return `mysql_native_password:${hex(verifier.doubleSha1)}`;
    default:
      return unreachable(verifier);
  }
}

/** Whether checking costs a key derivation, which runs on the thread pool and is worth remembering. */
export function isSlow(verifier: Verifier): boolean {
  return costOf(verifier) > 0;
}

/** What checking costs, in rounds of a derivation; 0: next to nothing. */
export function costOf(verifier: Verifier): number {
  return verifier.kind === "pbkdf2_sha256" || verifier.kind === "pg_scram_sha256" ? verifier.iterations : 0;
}

/**
 * Whether a password sent in clear matches.
 *
 * @param secret key of this process, so that digests of plain passwords mean nothing elsewhere
 */
export async function matchesPassword(verifier: Verifier, password: string, secret: Uint8Array): Promise<boolean> {
  switch (verifier.kind) {
    case "plain":
      return timingSafeEqual(hmac(secret, verifier.password), hmac(secret, password));
    case "pbkdf2_sha256": {
      const made = await pbkdf2Sha256(password, verifier.iterations, verifier.salt);
      return timingSafeEqual(made.hash, verifier.hash);
    }
    case "pg_scram_sha256": {
      const made = await scramSha256(password, verifier.iterations, verifier.salt);
      const isStoredKey = timingSafeEqual(made.storedKey, verifier.storedKey);
      const isServerKey = timingSafeEqual(made.serverKey, verifier.serverKey);
      return isStoredKey && isServerKey;
    }
    case "mysql_native_password":
      timingSafeEqual(hmac(secret, password), hmac(secret, "")); // the work of a plain password, whose answer is not used
      return false;
    default:
      return unreachable(verifier);
  }
}

/**
 * Whether an answer is PostgreSQL's MD5 of a password, a name and a salt: `md5`, and the hex digits of md5(hex md5(password, name), salt).
 * Only passwords that are stored plain can be checked; others take the same work.
 */
export function matchesMd5(verifier: Verifier, name: string, salt: Uint8Array, answer: string): boolean {
  const password = verifier.kind === "plain" ? verifier.password : "";
  const inner = createHash("md5").update(password).update(name).digest("hex");
  const want = Buffer.from(`md5${createHash("md5").update(inner).update(salt).digest("hex")}`);
  const given = Buffer.from(answer);
  const isSame = given.length === want.length && timingSafeEqual(given, want);
  return isSame && verifier.kind === "plain" && password !== "";
}

/**
 * Whether a proof is SHA1(password) xor SHA1(scramble, SHA1(SHA1(password))), for passwords stored plain or as the inner hash; others take
 * the same work.
 */
export function matchesMysqlNative(verifier: Verifier, scramble: Uint8Array, proof: Uint8Array): boolean {
  const plain = mysqlNative(verifier.kind === "plain" ? verifier.password : "").doubleSha1;
  const stored = verifier.kind === "mysql_native_password" ? verifier.doubleSha1 : plain;
  const mask = createHash("sha1").update(scramble).update(stored).digest();
  const once = Uint8Array.from(mask, (byte, i) => byte ^ (proof[i] ?? 0));
  const isSame = timingSafeEqual(createHash("sha1").update(once).digest(), stored);
  const isKnown = verifier.kind === "mysql_native_password" || (verifier.kind === "plain" && verifier.password !== "");
  return isSame && isKnown && proof.length === SHA1_BYTES;
}

/**
 * Whether a proof is SHA256(password) xor SHA256(SHA256(SHA256(password)), scramble), for passwords stored plain; others take the same
 * work.
 */
export function matchesMysqlSha2(verifier: Verifier, scramble: Uint8Array, proof: Uint8Array): boolean {
  const password = verifier.kind === "plain" ? verifier.password : "";
  const once = createHash("sha256").update(password).digest();
  const twice = createHash("sha256").update(once).digest();
  const mask = createHash("sha256").update(createHash("sha256").update(twice).digest()).update(scramble).digest();
  return matchesMasked(once, mask, proof) && password !== "";
}

function matchesMasked(want: Uint8Array, mask: Uint8Array, proof: Uint8Array): boolean {
  const given = Uint8Array.from(mask, (byte, i) => byte ^ (proof[i] ?? 0));
  return timingSafeEqual(given, want) && proof.length === want.length;
}

/** Derives a PBKDF2 verifier. */
export async function pbkdf2Sha256(
  password: string,
  iterations: number,
  salt: Uint8Array,
): Promise<Extract<Verifier, { kind: "pbkdf2_sha256" }>> {
  return { kind: "pbkdf2_sha256", iterations, salt, hash: await derive(password, salt, iterations, SHA256_BYTES, "sha256") };
}

/** Derives a SCRAM verifier; the password goes through SASLprep first. */
export async function scramSha256(
  password: string,
  iterations: number,
  salt: Uint8Array,
): Promise<Extract<Verifier, { kind: "pg_scram_sha256" }>> {
  const salted = await derive(saslprep(password), salt, iterations, SHA256_BYTES, "sha256");
  const storedKey = createHash("sha256").update(hmac(salted, "Client Key")).digest();
  return { kind: "pg_scram_sha256", iterations, salt, storedKey, serverKey: hmac(salted, "Server Key") };
}

/** Derives a verifier for the native handshake of MySQL clients. */
export function mysqlNative(password: string): Extract<Verifier, { kind: "mysql_native_password" }> {
  const once = createHash("sha1").update(password).digest();
  return { kind: "mysql_native_password", doubleSha1: createHash("sha1").update(once).digest() };
}

/** HMAC of SHA-256, which SCRAM is made of. */
export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function parseIterations(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,7}$/.test(text)) return undefined;
  const iterations = Number(text);
  return iterations >= 1 && iterations <= PASSWORD_ITERATIONS_MAX ? iterations : undefined;
}

function parseSalt(text: string | undefined): Uint8Array | undefined {
  const salt = parseHex(text);
  return salt !== undefined && salt.length >= 1 && salt.length <= PASSWORD_SALT_BYTES_MAX ? salt : undefined;
}

/** Bytes of a hex text; undefined when it is not hex or not `byteLength` long. */
function parseHex(text: string | undefined, byteLength?: number): Uint8Array | undefined {
  if (text === undefined || text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  if (byteLength !== undefined && text.length !== 2 * byteLength) return undefined;
  return Buffer.from(text, "hex");
}
