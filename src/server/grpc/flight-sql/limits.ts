/** Limits of Flight SQL that no setting changes. */

/** Most prepared statements of one user, and of all. Reason: each holds its tree and its values. Error: RuntimeResourcesExhausted. */
export const PREPARED_PER_USER_MAX = 4096;
export const PREPARED_OF_ALL_MAX: number = 16 * 1024;

/** Milliseconds that a prepared statement stays that nobody uses. Drivers are told; one that comes back later prepares anew. */
export const PREPARED_IDLE_MS: number = 30 * 60_000;

/** Most sessions of one user, and of all. Reason: each is a few names. Error: RuntimeResourcesExhausted. */
export const SESSIONS_PER_USER_MAX = 4096;
export const SESSIONS_OF_ALL_MAX: number = 16 * 1024;

/** Milliseconds that a session stays that nobody uses. */
export const SESSION_IDLE_MS: number = 60 * 60_000;

/** Most rows of parameters that a query may be bound to. Reason: it runs once for each. Error: InvalidArguments. */
export const BOUND_ROWS_MAX = 65_536;

/** Most options of a session that one request may set. Error: InvalidArguments. */
export const SESSION_OPTIONS_MAX = 64;

/** Most bytes of a command, an action's body or a ticket: the text of a statement and little else. Error: InvalidArguments. */
export const COMMAND_BYTES_MAX: number = 64 * 1024 * 1024;

/**
 * Most rows, values and bytes of values that a prepared INSERT writes at once. Reason: they are held until they are written, and 65,536
 * values are made ready in one piece of 10 ms. What comes beyond is the next write.
 */
export const PART_ROWS_MAX: number = 16 * 1024;
export const PART_VALUES_MAX: number = 64 * 1024;
export const PART_BYTES_MAX: number = 8 * 1024 * 1024;
