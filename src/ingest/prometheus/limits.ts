/**
 * Limits of the remote-write decoders and of remote read. Each ends in a refused request.
 */

/** Most samples of a request. Reason: one takes two bytes of a body and twenty of memory. Prometheus sends 2,000, agents 10,000. */
export const SAMPLES_MAX: number = 8 * 1024 * 1024;

/** Samples for which a decoder keeps room between requests. */
export const SAMPLES_KEPT_MAX: number = 256 * 1024;

/** Most databases and physical tables that the labels of one decoder's series may name. Reason: each is a dictionary and a write. */
export const TARGETS_MAX = 64;

/** Samples for which there is room at first. */
export const SAMPLES_AT_FIRST = 2048;
