/**
 * Keeps pages of other sites from using the server through the browser of somebody who can reach it (README 20).
 *
 * | what a request says | is |
 * |---|---|
 * | `Host` that is no name of this listener | refused: a foreign name was made to point here (DNS rebinding) |
 * | `Origin` in `http.cors_allowed_origins` | served |
 * | `Sec-Fetch-Site: same-origin` or `none` (typed, bookmarked) | served |
 * | `Sec-Fetch-Site: same-site` or `cross-site` | refused, but for a link to a page that changes nothing |
 * | no `Sec-Fetch-Site`, `Origin` of this server | served |
 * | no `Sec-Fetch-Site`, another `Origin`, or `null` | refused |
 * | neither, a browser's `User-Agent`, GET, no `Referer` of this server | reads only |
 * | neither, anything else: curl, Grafana, Telegraf, Prometheus, Collectors | served |
 *
 * Browsers send `Sec-Fetch-Site` to addresses that they trust, which loopback is and a plain `http://` elsewhere is not; there every
 * request that is not a GET has an `Origin`, and a GET of a foreign page can change nothing. Pages can neither set nor leave out these
 * headers.
 * Source: Fetch standard, Fetch Metadata Request Headers.
 */
import { isLoopback } from "../../base/text/network-address.ts";

/** What is done with a request. */
export type BrowserVerdict = "served" | "reads only" | { readonly refused: string };

/** What the guard goes by. */
export interface BrowserGuardOptions {
  /** Address that the listener is bound to. */
  readonly hostname: string;
  /** `http.allowed_hosts`. */
  readonly allowedHosts: readonly string[];
  /** `http.cors_allowed_origins`; "*" is any. */
  readonly origins: readonly string[];
}

/** Characters of a header that a refusal repeats. */
const SHOWN_CHARACTERS_MAX = 80;

/** See the file header. */
export class BrowserGuard {
  private readonly isLocal: boolean;
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  private readonly takesAny: boolean;
  /** The `Host` that was last found to be one of this listener's: clients send the same one again and again, and an address takes 10 µs. */
  private knownHost: string | undefined;

  constructor({ hostname, allowedHosts, origins }: BrowserGuardOptions) {
    this.isLocal = isLoopback(hostname);
    this.hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
    this.origins = new Set(origins);
    this.takesAny = this.origins.has("*");
  }

  /** Whether pages of an origin may use the server. */
  allows(origin: string): boolean {
    return this.takesAny || this.origins.has(origin);
  }

  /** What is done with a request. */
  judge(method: string, path: string, headers: Headers): BrowserVerdict {
    const host = headers.get("host");
    if (host !== null && host !== "" && host !== this.knownHost) {
      if (this.isOwnName(host)) this.knownHost = host;
      else return this.foreignName(host);
    }
    const origin = headers.get("origin");
    if (this.takesAny || (origin !== null && this.origins.has(origin))) return "served";
    const site = headers.get("sec-fetch-site");
    if (site !== null) {
      if (site === "same-origin" || site === "none" || isHarmlessLink(method, path, headers)) return "served";
      return refusedSite(origin);
    }
    if (origin !== null) return isSameAuthority(origin, host) ? "served" : refusedSite(origin);
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead || headers.get("user-agent")?.startsWith("Mozilla/") !== true) return "served";
    return isSameAuthority(headers.get("referer") ?? "", host) ? "served" : "reads only";
  }

  private foreignName(host: string): BrowserVerdict {
    const why = this.isLocal
      ? "this listener is for this machine alone, and takes localhost, loopback addresses and the names in http.allowed_hosts"
      : "it is not in http.allowed_hosts";
    return { refused: `cannot answer under the name ${shown(host)}: ${why}` };
  }

  /** Whether the listener goes by that name. Where it is not for this machine alone, every name and address does unless some are listed. */
  private isOwnName(host: string): boolean {
    const name = nameOf(host);
    if (name === "localhost" || isLoopback(name) || this.hosts.has(name) || this.hosts.has(host.toLowerCase())) return true;
    if (this.isLocal) return false;
    return this.hosts.size === 0 || isAddress(name);
  }
}

/** The name or address of a `Host` header, in lower case, without port, brackets and a last dot. */
function nameOf(host: string): string {
  const [, six, plain = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
  return six ?? plain.replace(/\.$/, "");
}

/** An address cannot be made to point elsewhere. */
function isAddress(name: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name) || name.includes(":");
}

/** A link that somebody followed, to a page outside the interface: the page that has it sees no answer, and nothing changes. */
function isHarmlessLink(method: string, path: string, headers: Headers): boolean {
  const isPage = !path.startsWith("/v1/") && !path.startsWith("/debug/");
  const isRead = method === "GET" || method === "HEAD";
  return isPage && isRead && headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
}

/** Whether a URL is at the authority that a request was sent to; which of http and https does not count, a proxy may stand between. */
function isSameAuthority(url: string, host: string | null): boolean {
  if (host === null || !URL.canParse(url)) return false;
  const { protocol, host: own } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return false;
  const asked = host.toLowerCase();
  return own === asked || own === asked.replace(protocol === "http:" ? /:80$/ : /:443$/, ""); // URLs leave out the protocol's own port
}

function refusedSite(origin: string | null): BrowserVerdict {
  const who = origin === null ? "pages of other sites" : shown(origin);
  return { refused: `cannot serve ${who}: other sites' pages are served only where http.cors_allowed_origins names their origin` };
}

function shown(text: string): string {
  return `"${text.slice(0, SHOWN_CHARACTERS_MAX).replace(/[^\x20-\x7e]/g, "?")}"`;
}
