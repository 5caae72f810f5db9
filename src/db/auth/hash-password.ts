/** Makes the stored form of a password, for `varve user hash-password`. Source: contract http.md 5.2. */
import { randomBytes } from "node:crypto";
import { unreachable } from "../../base/assert.ts";
import { invalidArguments } from "../../base/error.ts";
import { mysqlNative, parseVerifier, pbkdf2Sha256, printVerifier, scramSha256 } from "./verifier.ts";

/** How to store a password. */
export interface HashOptions {
  readonly format: "pbkdf2_sha256" | "mysql_native_password" | "pg_scram_sha256";
  /** 1..1,000,000. */
  readonly iterations: number;
  /** The salt in hex, or how many random bytes to make one of. */
  readonly salt: { readonly hex: string } | { readonly byteLength: number };
}

/**
 * One line without an end, as it stands after `<user>=`.
 *
 * @throws DbError InvalidArguments when the password is empty or the options are out of range
 */
export async function hashPassword(password: string, options: HashOptions): Promise<string> {
  if (password === "") throw invalidArguments("password must not be empty");
  const salt = "hex" in options.salt ? Buffer.from(options.salt.hex, "hex") : randomBytes(options.salt.byteLength);
  const line = await derive(password, options, salt);
  if (parseVerifier(line) === undefined) {
    throw invalidArguments("cannot hash the password: salt or iterations are out of range");
  }
  return line;
}

/** The password in what standard input gave: its first line, without the line's end. */
export function firstLine(input: string): string {
  return (input.split("\n", 1)[0] ?? "").replace(/\r+$/, "");
}

async function derive(password: string, options: HashOptions, salt: Uint8Array): Promise<string> {
  switch (options.format) {
    case "pbkdf2_sha256":
      return printVerifier(await pbkdf2Sha256(password, options.iterations, salt));
    case "pg_scram_sha256":
      return printVerifier(await scramSha256(password, options.iterations, salt));
    case "mysql_native_password":
      return printVerifier(mysqlNative(password));
    default:
      return unreachable(options.format);
  }
}
