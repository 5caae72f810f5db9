/**
 * Limits of the OTLP decoders.
 */

/** Deepest nesting of attribute values and of JSON bodies. Reason: both are followed by recursion. Error: the request is refused. */
export const VALUE_DEPTH_MAX = 64;

/** Resources, scopes and metrics that a decoder remembers; beyond it all are forgotten between two requests. */
export const CONTEXTS_MAX = 65_536;

/** Most reasons that the message of a partial success holds. */
export const REASONS_MAX = 8;

/**
 * Bytes that a column of one request may take beside twice its body. Reason: what a resource and a scope say is repeated for each of their
 * records, of which one takes few bytes. Error: InvalidArguments.
 */
export const UNFOLDED_BYTES_SLACK: number = 128 * 1024 * 1024;

/** Bytes of a column that a decoder keeps for the next request; larger ones are made anew. */
export const RETAINED_BYTES_MAX: number = 8 * 1024 * 1024;

/**
 * Cells that the attributes of one request's spans may take, as columns of a table. Reason: a few bytes of a span make a column, which
 * takes some bytes for every other span of the request. Error: InvalidArguments.
 */
export const CELLS_MAX: number = 32 * 1024 * 1024;
