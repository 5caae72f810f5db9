/**
 * Which endpoints may be reached: one entry of `storage.copy_endpoints`. `https://s3.example.com`, `http://127.0.0.1:9000`, and
 * `https://*.example.com` for all names below one; without a scheme it is https.
 */
import { isIP } from "node:net";
import { isLoopback, reachOf } from "./network-address.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/** An entry, taken apart. */
export interface EndpointPattern {
  readonly protocol: string;
  /** As URLs have it: lower case, IPv6 in brackets; without the `*.` of a wildcard. */
  readonly hostname: string;
  /** True: names below `hostname`, not it itself. */
  readonly isWildcard: boolean;
  /** "" is the protocol's own. */
  readonly port: string;
}

/** Reads an entry. */
export function parseEndpointPattern(text: string): Parsed<EndpointPattern> {
  const whole = text.includes("://") ? text : `https://${text}`;
  const star = /^([a-z]+:\/\/)\*\.(.+)$/i.exec(whole);
  const bare = star === null ? whole : `${star[1] ?? ""}${star[2] ?? ""}`;
  if (text === "" || bare.includes("*")) return refused("name each endpoint; a * stands only for the first part of a name");
  const url = URL.canParse(bare) ? new URL(bare) : undefined;
  if (url === undefined || !isOrigin(url)) return refused("it is no origin such as https://s3.example.com:9000");
  if (star !== null && isIP(bareHost(url.hostname)) !== 0) return refused("a * stands for names, not for addresses");
  const { protocol, hostname, port } = url;
  return parsed({ protocol, hostname, isWildcard: star !== null, port });
}

/** Whether a URL is http or https and has nothing besides scheme, host and port. */
export function isOrigin({ protocol, hostname, pathname, username, password, search, hash }: URL): boolean {
  const isHttp = protocol === "http:" || protocol === "https:";
  return isHttp && hostname !== "" && pathname === "/" && username + password + search + hash === "";
}

/** The entry that names an endpoint. */
export function endpointPatternOf(url: URL, patterns: readonly EndpointPattern[]): EndpointPattern | undefined {
  return patterns.find(
    ({ protocol, hostname, isWildcard, port }) =>
      protocol === url.protocol && port === url.port && (isWildcard ? url.hostname.endsWith(`.${hostname}`) : url.hostname === hostname),
  );
}

/**
 * Whether an entry lets an endpoint be at an address. Names come from whoever answers for them, so an address of this machine or its link
 * must be in the list itself (`localhost` is one), and one of a private network must belong to a name that the list gives in full.
 */
export function allowsAddress({ hostname, isWildcard }: EndpointPattern, address: string): boolean {
  switch (reachOf(address)) {
    case "public":
      return true;
    case "private":
      return !isWildcard;
    case "local":
      return !isWildcard && (bareHost(hostname) === address || (hostname === "localhost" && isLoopback(address)));
  }
}

/** A URL's host without the brackets of IPv6. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
