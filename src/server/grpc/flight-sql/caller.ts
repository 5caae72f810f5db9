/** Who calls, as Flight SQL needs it: a call of gRPC gives one. */
import type { IngestCounts } from "../../../db/ingest-counts.ts";
import type { User } from "../../../db/auth/user.ts";

/** See the file header. */
export interface FlightCaller {
  readonly user: User;
  /** Address of the client. */
  readonly client: string;
  /** Fires when the client leaves or its deadline has passed. */
  readonly signal: AbortSignal;
  /** What its rows are counted for. */
  readonly ingest?: IngestCounts;
  /** As the call's headers name them, or their defaults; a session of Flight goes before that. */
  readonly database: string;
  readonly timeZone: string;
  /** Headers that came, and those that the answer begins with. */
  readonly requestHeader: Headers;
  readonly responseHeader: Headers;
  /** Names the sign-in whose token the call brings; undefined: it brings none. */
  readonly signIn?: Uint8Array | undefined;
}
