import type { TraceContext } from "../base/trace/trace-context.ts";
import type { SessionVariables } from "../query/query-context.ts";
import type { User } from "./auth/user.ts";
import type { IngestCounts } from "./ingest-counts.ts";

/** One client's state: a request over HTTP, a connection over the wire protocols. */
export interface Session extends SessionVariables {
  readonly user: User;
  readonly signal: AbortSignal;
  /** Address of the client, for the list of statements that run. */
  readonly client?: string;
  /** The span that its statements are part of. */
  readonly trace?: TraceContext;
  /** Of the protocol that its rows come by; absent: they are not counted, as those that the server writes itself. */
  readonly ingest?: IngestCounts;
}
