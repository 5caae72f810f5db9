/** Limits of a shard on its node that no configuration key sets. */

/** How long a reader waits for the log to come up to what it must see, in milliseconds. Error: StorageUnavailable. */
export const REACH_MILLIS_MAX = 20_000;

/** How long a shard may take to close, in milliseconds. Reason: whoever takes it over waits, and reads the log for what is left. */
export const CLOSE_MILLIS_MAX = 10_000;
