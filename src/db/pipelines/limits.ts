/** Limits of the store of pipelines. */

/** Compiled pipelines that are kept; the one used longest ago goes. */
export const COMPILED_MAX = 256;

/**
 * Milliseconds for which it is believed that a version is there, and which is the newest: another server may have stored or removed one.
 * Reason: whoever stores a pipeline uses it seconds later, and one look in 2 s costs nothing.
 */
export const KEPT_MS = 2000;

/** Milliseconds for which it is believed where the table does not answer. Reason: a shard that changes its owner is away for seconds. */
export const KEPT_UNANSWERED_MS = 300_000;

/** Milliseconds that a look at the table may take where what is known may still be right. */
export const LOOK_MS = 1000;

/** Longest name of a pipeline in characters. Error: InvalidArguments. */
export const PIPELINE_NAME_CHARACTERS_MAX = 255;

/** Pipelines that one request may reach through dispatchers. Error: InvalidArguments. */
export const REACHED_PIPELINES_MAX = 64;
