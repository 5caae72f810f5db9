/**
 * Limits of the OTLP decoders.
 */

/** Deepest nesting of attribute values and of JSON bodies. Reason: both are followed by recursion. Error: the request is refused. */
export const VALUE_DEPTH_MAX = 64;

/** Resources, scopes and metrics that a decoder remembers; beyond it all are forgotten between two requests. */
export const CONTEXTS_MAX = 65_536;

/** Most reasons that the message of a partial success holds. */
export const REASONS_MAX = 8;
