/** What a request's fields say, and whether they make a request (RFC 9113 8.1 to 8.3). */
import type { HeaderField } from "./hpack/header-decoder.ts";

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  readonly scheme: string;
  readonly path: string;
  /** Of `:authority`, else `host`; undefined: neither was sent. */
  readonly authority: string | undefined;
  /** All fields but those of the request line; a name may come more than once. */
  readonly fields: readonly HeaderField[];
  /** Bytes that the body is said to have. */
  readonly contentLength: number | undefined;
}

/** Fields of connections, which HTTP/2 does not have. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
const LINE: ReadonlySet<string> = new Set([":method", ":scheme", ":path", ":authority"]);
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// oxlint-disable-next-line no-control-regex -- These are what is looked for.
const VALUE = /^[^\x00\r\n]*$/;

/** Reads the head of a request; a text says why it is none. */
export function requestHeadOf(fields: readonly HeaderField[]): RequestHead | string {
  const line = new Map<string, string>();
  let count = 0;
  for (; count < fields.length; count++) {
    const [name, value] = fields[count] as HeaderField;
    if (!name.startsWith(":")) break;
    if (!LINE.has(name)) return "a field of the request line is none";
    if (line.has(name)) return `${name} comes twice`;
    if (!VALUE.test(value)) return `${name} has characters that it cannot have`;
    line.set(name, value);
  }
  const others = fields.slice(count);
  const why = whyNotFields(others);
  if (why !== undefined) return why;
  const method = line.get(":method");
  const scheme = line.get(":scheme");
  const path = line.get(":path");
  if (method === undefined || scheme === undefined || path === undefined || path === "") return ":method, :scheme or :path is missing";
  const contentLength = lengthOf(others);
  if (typeof contentLength === "string") return contentLength;
  const authority = line.get(":authority") ?? others.find(([name]) => name === "host")?.[1];
  return { method, scheme, path, authority, fields: others, contentLength };
}

/** Why fields cannot stand behind the request line, or behind a body. */
export function whyNotFields(fields: readonly HeaderField[]): string | undefined {
  for (const [name, value] of fields) {
    if (!NAME.test(name)) return "a field's name has characters that it cannot have, such as large letters";
    if (!VALUE.test(value)) return `${name} has characters that it cannot have`;
    if (OF_CONNECTIONS.has(name)) return `${name} is of HTTP/1.1`;
    if (name === "te" && value.toLowerCase() !== "trailers") return "te says other than trailers";
  }
  return undefined;
}

function lengthOf(fields: readonly HeaderField[]): number | undefined | string {
  let length: number | undefined;
  for (const [name, value] of fields) {
    if (name !== "content-length") continue;
    const said = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
    if (said === undefined || (length !== undefined && length !== said)) return "content-length is no length";
    length = said;
  }
  return length;
}
