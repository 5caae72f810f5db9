/**
 * Cross-origin headers (contract http.md 6.6, README 20): they let pages of allowed origins read answers. They stand on every answer
 * outside `/debug`, errors included. Whether a page is served at all is `browser-guard.ts`'s to say.
 */
import type { IngestServerOptions } from "../options.ts";

const VARY = "origin, access-control-request-method, access-control-request-headers";
const PREFLIGHT: Readonly<Record<string, string>> = {
  "access-control-allow-methods": "GET,POST,PUT,DELETE,HEAD",
  "access-control-allow-headers": "*",
};
const ANY: Readonly<Record<string, string>> = { "access-control-allow-origin": "*", vary: VARY };
const OWN: Readonly<Record<string, string>> = { vary: VARY };
const NONE: Readonly<Record<string, string>> = {};

export class Cors {
  readonly enabled: boolean;
  private readonly origins: ReadonlySet<string>;

  constructor(options: IngestServerOptions["cors"]) {
    this.enabled = options.enabled;
    this.origins = new Set(options.origins);
  }

  /** Headers for an answer to this request. */
  headersFor(request: Request): Readonly<Record<string, string>> {
    if (!this.enabled) return NONE;
    if (this.origins.has("*")) return ANY;
    const origin = request.headers.get("origin");
    return origin !== null && this.origins.has(origin) ? { "access-control-allow-origin": origin, vary: VARY } : OWN;
  }

  /** Headers for the answer to an OPTIONS request. */
  preflightHeaders(request: Request): Readonly<Record<string, string>> {
    return { ...this.headersFor(request), ...PREFLIGHT };
  }
}
