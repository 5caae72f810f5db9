/**
 * Which paths need credentials, and where a request of each class of endpoints carries them. Pure: no provider, no sockets.
 *
 * Paths are the raw ones that routing compares, neither decoded nor normalised: what routing does not know is a 404 behind the same check.
 * Texts and codes are those that clients of the contract match on; the answer is 401 whatever the code. No text quotes a password.
 * Source: contract http.md 5.3 to 5.5, README 10; RFC 7617 (Basic).
 */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import {
  decodeBasic,
  decodeUtf8,
  invalidHeader,
  readBasic,
  refuseBearer,
  splitCredentials,
  splitScheme,
  unsupportedScheme,
} from "../../common/basic-credentials.ts";
import type { Login } from "../../common/logins.ts";

/** Where an endpoint looks for credentials. */
type CredentialClass = "influxdb" | "splunk" | "generic";

/** Paths under /v1/ that are open, with all that starts with them. */
const PUBLIC_PREFIXES: readonly string[] = [
  "/v1/influxdb/ping",
  "/v1/influxdb/health",
  "/v1/health",
  "/v1/splunk/services/collector/health",
];

/** Whether a path needs credentials while a user provider is set. `isAdminPublic` is `http.public_admin`. */
export function needsCredentials(path: string, isAdminPublic = false): boolean {
  if (path.startsWith("/v1/")) return !PUBLIC_PREFIXES.some((prefix) => path.startsWith(prefix));
  return !isAdminPublic && (path === "/config" || path.startsWith("/config/") || path.startsWith("/debug/"));
}

/** The class of a path. */
function credentialClassOf(path: string): CredentialClass {
  if (path.includes("influxdb")) return "influxdb";
  return path.startsWith("/v1/splunk/") ? "splunk" : "generic";
}

/**
 * The credentials of a request.
 *
 * @param query the raw query string, with or without its `?`
 * @throws DbError AuthHeaderNotFound, InvalidAuthHeader, InvalidArguments (one of `u` and `p` is missing), UserPasswordMismatch (bearer)
 */
export function readCredentials(path: string, query: string, headers: Headers): Login {
  const own = headers.get("x-greptime-auth");
  const standard = headers.get("authorization");
  refuseBearer(own ?? standard);
  switch (credentialClassOf(path)) {
    case "influxdb":
      return standard === null ? readQuery(query) : readRawOrBasic(standard, "token");
    case "splunk":
      if (standard === null) throw new DbError(StatusCode.AuthHeaderNotFound, "Token is required");
      return readRawOrBasic(standard, "splunk");
    case "generic":
      return readBasic(own ?? standard);
  }
}

/** `<rawScheme> user:pass` as it is, or `Basic` with base64. */
function readRawOrBasic(header: string, rawScheme: string): Login {
  const [scheme, rest] = splitScheme(header);
  if (rest.startsWith(" ")) throw invalidHeader();
  switch (scheme.toLowerCase()) {
    case rawScheme:
      return splitCredentials(rest);
    case "basic":
      return decodeBasic(rest);
    default:
      throw unsupportedScheme(scheme);
  }
}

/** `u` and `p`; the whole query string is percent-decoded before it is split, as clients of the contract expect. The last of two counts. */
function readQuery(query: string): Login {
  let name: string | undefined;
  let password: string | undefined;
  for (const pair of percentDecode(query.replace(/^\?/, "")).split("&")) {
    const equals = pair.indexOf("=");
    if (equals < 0) continue;
    if (equals === 1 && pair.startsWith("u")) name = pair.slice(2);
    if (equals === 1 && pair.startsWith("p")) password = pair.slice(2);
  }
  if (name === undefined && password === undefined) {
    throw new DbError(StatusCode.AuthHeaderNotFound, "Not found influx http authorization info");
  }
  if (name === undefined || password === undefined) {
    throw invalidArguments("Invalid request parameter: influxdb auth: username and password must be provided together");
  }
  return { name, password };
}

/** Decodes `%XX`; a `%` that starts no such triple stays, and so does `+`. */
function percentDecode(text: string): string {
  if (!text.includes("%")) return text;
  const source = Buffer.from(text, "utf8");
  const target = new Uint8Array(source.length);
  let length = 0;
  for (let at = 0; at < source.length; at++) {
    const triple = source[at] === 0x25 ? /^%([0-9a-fA-F]{2})$/.exec(source.toString("latin1", at, at + 3)) : null; // 0x25 '%'
    target[length++] = triple?.[1] === undefined ? source.readUInt8(at) : Number.parseInt(triple[1], 16);
    if (triple !== null) at += 2;
  }
  return decodeUtf8(target.subarray(0, length), "query string");
}
