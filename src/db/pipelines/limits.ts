/** Limits of the store of pipelines. */

/** Compiled pipelines that are kept; the one used longest ago goes. */
export const COMPILED_MAX = 256;

/** Milliseconds after which the newest version of a name is looked up again: another server may have stored one through SQL. */
export const NEWEST_KEPT_MS = 10_000;

/** Longest name of a pipeline in characters. Error: InvalidArguments. */
export const PIPELINE_NAME_CHARACTERS_MAX = 255;

/** Pipelines that one request may reach through dispatchers. Error: InvalidArguments. */
export const REACHED_PIPELINES_MAX = 64;
