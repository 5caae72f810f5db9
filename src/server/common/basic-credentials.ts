/**
 * Names and passwords of an `Authorization` header, whatever protocol carries it. Pure. No text quotes a password.
 *
 * Texts and codes are those that clients of the contract match on. Source: contract http.md 5.3 to 5.5; RFC 7617 (Basic).
 */
import { utf8Text } from "../../base/bytes/utf8.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Login } from "./logins.ts";

/** Authentication schemes are short words (RFC 9110); anything else may be a misplaced password and is not repeated. */
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,19}$/;

/** No provider knows bearer tokens. @throws DbError UserPasswordMismatch */
export function refuseBearer(header: string | null): void {
  if (header === null || !/^bearer +[^ ]/i.test(header)) return;
  throw new DbError(StatusCode.UserPasswordMismatch, "Unsupported authentication method: bearer token");
}

/** The login of a header of scheme Basic. @throws DbError AuthHeaderNotFound, InvalidAuthHeader */
export function readBasic(header: string | null): Login {
  if (header === null) throw new DbError(StatusCode.AuthHeaderNotFound, "Not found http or grpc authorization header");
  const [scheme, rest] = splitScheme(header);
  if (rest.includes(" ")) throw invalidHeader();
  const lower = scheme.toLowerCase();
  if (lower !== "basic") throw unsupportedScheme(lower);
  return decodeBasic(rest);
}

/** The scheme, and what stands behind it. @throws DbError InvalidAuthHeader */
export function splitScheme(header: string): readonly [scheme: string, rest: string] {
  const bad = header.search(/[^\t\x20-\x7e]/);
  if (bad >= 0) throw new DbError(StatusCode.InvalidAuthHeader, `Invalid visibility ASCII chars: character ${bad + 1} of the header`);
  const space = header.indexOf(" ");
  if (space < 0) throw invalidHeader();
  return [header.slice(0, space), header.slice(space + 1)];
}

/** A pair in base64. @throws DbError InvalidAuthHeader */
export function decodeBasic(encoded: string): Login {
  // Whole groups of four of the standard alphabet, padded, and no bits set behind the last byte.
  const bytes = Buffer.from(encoded, "base64");
  const bad = encoded.search(/[^A-Za-z0-9+/=]/);
  if (bad >= 0) throw new DbError(StatusCode.InvalidAuthHeader, `Invalid base64 value: invalid symbol at offset ${bad}`);
  if (bytes.toString("base64") !== encoded)
    throw new DbError(StatusCode.InvalidAuthHeader, "Invalid base64 value: invalid length or padding");
  return splitCredentials(decodeUtf8(bytes, "pair of name and password"));
}

/** Splits at the first colon: a password may hold more of them. @throws DbError InvalidAuthHeader */
export function splitCredentials(text: string): Login {
  const colon = text.indexOf(":");
  if (colon < 0) throw invalidHeader();
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Text of UTF-8. @param what it is of @throws DbError InvalidAuthHeader */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  const text = utf8Text(bytes);
  if (text === undefined)
    throw new DbError(StatusCode.InvalidAuthHeader, `Invalid utf-8 value: the ${what} holds bytes that are not UTF-8`);
  return text;
}

/** A header that is not written as it must be. */
export function invalidHeader(): DbError {
  return new DbError(StatusCode.InvalidAuthHeader, "Invalid http authorization header");
}

/** A scheme that nobody here knows. */
export function unsupportedScheme(scheme: string): DbError {
  if (!SCHEME.test(scheme)) return invalidHeader();
  return new DbError(StatusCode.InvalidAuthHeader, `Unsupported http auth scheme, name: ${scheme}`);
}
