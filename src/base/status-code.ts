/**
 * The status codes that every protocol reports, with their mapping to HTTP.
 * Numbers and meanings are those of the contract (http.md 2.7); they are stable across releases.
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

const NAMES: ReadonlyMap<StatusCode, StatusName> = new Map(
  Object.entries(StatusCode).map(([name, code]) => [code, name as StatusName] as const),
);

/** HTTP status of a code, e.g. 4001 → 400. */
export function httpStatusOf(code: StatusCode): number {
  return HTTP_STATUS[code];
}

/** Name of a code, e.g. 4001 → "TableNotFound". */
export function statusNameOf(code: StatusCode): StatusName {
  return NAMES.get(code) ?? "Unknown";
}
