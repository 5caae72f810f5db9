/**
 * One request on its way through the server.
 */
import type { TraceContext } from "../../base/trace/trace-context.ts";
import type { User } from "../../db/auth/user.ts";
import type { BodyExchange } from "./body/body-exchange.ts";

/** What handlers know of a request. */
export interface Exchange extends BodyExchange {
  readonly method: string;
  /** As the runtime normalised it; used for routing and for credentials alike. */
  readonly path: string;
  /** After `?`, not decoded; "" when absent. */
  readonly rawQuery: string;
  readonly user: User;
  /** Whether the answer may tell of the server's own files and folders: there is no user provider, or the credentials are good. */
  readonly isTrusted: boolean;
  /** Address of the client; "gone" when it has left. */
  client(): string;
  /** The span of the request; undefined: it is not recorded. */
  readonly trace: TraceContext | undefined;
  /** Monotonic milliseconds when the request came in. */
  readonly startedMs: number;
  /** Database that the headers and the query chose, existing or not. */
  readonly database: string;
  /** Ends the time that the request may take: for a streamed answer that is over. */
  endTimeout(): void;
}

/** Path and query of a URL, without the cost of a URL object. A request without `Host`, as of HTTP/1.0, has a path alone. */
export function splitUrl(url: string): readonly [path: string, rawQuery: string] {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return ["/", ""];
  const hash = url.indexOf("#", start);
  const end = hash < 0 ? url.length : hash;
  const query = url.indexOf("?", start);
  if (query < 0 || query >= end) return [url.slice(start, end), ""];
  return [url.slice(start, query), url.slice(query + 1, end)];
}
