/**
 * The status codes that every protocol reports, with what each means and its mapping to HTTP.
 * Numbers and names are those of the contract (http.md 2.7); they are stable across releases.
 */
export const StatusCode = {
  Success: 0,
  Unknown: 1000,
  Unsupported: 1001,
  Unexpected: 1002,
  Internal: 1003,
  InvalidArguments: 1004,
  Cancelled: 1005,
  IllegalState: 1006,
  External: 1007,
  DeadlineExceeded: 1008,
  Suspended: 1009,
  InvalidSyntax: 2000,
  PlanQuery: 3000,
  EngineExecuteQuery: 3001,
  TableAlreadyExists: 4000,
  TableNotFound: 4001,
  TableColumnNotFound: 4002,
  TableColumnExists: 4003,
  DatabaseNotFound: 4004,
  RegionNotFound: 4005,
  RegionAlreadyExists: 4006,
  RegionReadonly: 4007,
  RegionNotReady: 4008,
  RegionBusy: 4009,
  TableUnavailable: 4010,
  DatabaseAlreadyExists: 4011,
  StorageUnavailable: 5000,
  RequestOutdated: 5001,
  RuntimeResourcesExhausted: 6000,
  RateLimited: 6001,
  UserNotFound: 7000,
  UnsupportedPasswordType: 7001,
  UserPasswordMismatch: 7002,
  AuthHeaderNotFound: 7003,
  InvalidAuthHeader: 7004,
  AccessDenied: 7005,
  PermissionDenied: 7006,
  FlowAlreadyExists: 8000,
  FlowNotFound: 8001,
  TriggerAlreadyExists: 9000,
  TriggerNotFound: 9001,
} as const;

/** Name of a code. */
export type StatusName = keyof typeof StatusCode;
/** Number of a code. */
export type StatusCode = (typeof StatusCode)[StatusName];

/** HTTP status of each code. A missing code is a compile error. */
const HTTP_STATUS: Readonly<Record<StatusCode, number>> = {
  0: 200,
  1000: 500,
  1001: 400,
  1002: 400, // as 3001: an option or a view that is not as it must be
  1003: 500,
  1004: 400,
  1005: 504,
  1006: 500,
  1007: 503,
  1008: 504,
  1009: 503,
  2000: 400,
  3000: 400,
  3001: 400, // 500 in the contract's table, but it is a value of the statement's (README 25)
  4000: 400,
  4001: 400,
  4002: 400,
  4003: 400,
  4004: 400,
  4005: 400,
  4006: 400,
  4007: 401, // as the contract has it
  4008: 503,
  4009: 503,
  4010: 503,
  4011: 400,
  5000: 503,
  5001: 400,
  6000: 500,
  6001: 429,
  7000: 401,
  7001: 401,
  7002: 401,
  7003: 401,
  7004: 401,
  7005: 403,
  7006: 403,
  8000: 400,
  8001: 400,
  9000: 400,
  9001: 400,
};

/** What each code means and what the client should do: one sentence. `docs/errors.md` shows them. */
const MEANINGS: Readonly<Record<StatusCode, string>> = {
  0: "The request was done; go on.",
  1000: "The server met something that it does not know; report it with the request id, which the server's log explains.",
  1001: "The request is understood but this server does not do it; send it in another form or do without.",
  1002: "A view or an option is not as it must be to be used; make the view again or mend the option.",
  1003: "The server has a bug; report it with the request id, which the server's log explains, and do not count on a retry.",
  1004: "An argument, a value or a row is not as it must be; change what the message names and send it again.",
  1005: "The query was cancelled by its client or by the server's stop; send it again if its answer is still wanted.",
  1006: "The part of the server that was asked cannot serve this request in its state; report it.",
  1007: "Something that the server leans on failed while it worked for the request; send it again.",
  1008: "The request took longer than its time limit; ask for less or give it a longer limit.",
  1009: "The server does not serve for now; send it again later.",
  2000: "The text is no statement of the language; mend it at the place that the message names.",
  3000: "The statement cannot be planned: a name, a type or a clause does not fit; change the statement.",
  3001: "The query met a value that it cannot compute with; change the statement or the value that the message names.",
  4000: "A table of that name is there already; use it, drop it, or say IF NOT EXISTS.",
  4001: "There is no table of that name; create it or mend the name.",
  4002: "The table has no column of that name; add it or mend the name.",
  4003: "The table has a column of that name already; use it or choose another name.",
  4004: "There is no database of that name; create it or mend the name.",
  4005: "There is no region of that number; look it up again.",
  4006: "A region of that number is there already; use it.",
  4007: "The region takes no writes; send them to where it does.",
  4008: "The region is not open yet; send the request again later.",
  4009: "The table changed, or is being changed, while the request was prepared; send it again.",
  4010: "The table cannot be served for now; send the request again later.",
  4011: "A database of that name is there already; use it or say IF NOT EXISTS.",
  5000: "The disk, the log or the store cannot be read or written; send it again later, and if it lasts look at /health and the log.",
  5001: "What the request was made for has changed since; make the request anew.",
  6000: "The request takes more memory, or more of another limit, than it may; ask for less or raise the limit that the message names.",
  6001: "The server is at its limit for now; wait as long as Retry-After says and send the same request again.",
  7000: "There is no account of that name; mend the name.",
  7001: "The account's password is of a kind that this way of signing in cannot check; sign in another way.",
  7002: "Name and password do not belong together; mend them and do not try again unchanged.",
  7003: "The request has no credentials and needs some; send them.",
  7004: "The credentials are not written as they must be; mend the header.",
  7005: "The request may not come from where it comes, such as a page of another site; nothing in it can be mended.",
  7006: "The account may not do this; use one that may, or ask for the permission.",
  8000: "A flow of that name is there already; use it or choose another name.",
  8001: "There is no flow of that name; mend the name.",
  9000: "A trigger of that name is there already; use it or choose another name.",
  9001: "There is no trigger of that name; mend the name.",
};

const NAMES: ReadonlyMap<StatusCode, StatusName> = new Map(
  Object.entries(StatusCode).map(([name, code]) => [code, name as StatusName] as const),
);

/** HTTP status of a code, e.g. 4001 → 400. */
export function httpStatusOf(code: StatusCode): number {
  return HTTP_STATUS[code];
}

/** What a code means and what the client should do, in one sentence. */
export function statusMeaningOf(code: StatusCode): string {
  return MEANINGS[code];
}

/** Name of a code, e.g. 4001 → "TableNotFound". */
export function statusNameOf(code: StatusCode): StatusName {
  return NAMES.get(code) ?? "Unknown";
}
