/**
 * Limits of the remote-write decoders and of remote read. Each ends in a refused request.
 */

/** Most samples of a request. Reason: one takes two bytes of a body and twenty of memory. Prometheus sends 2,000, agents 10,000. */
export const SAMPLES_MAX: number = 8 * 1024 * 1024;

/** Samples for which a decoder keeps room between requests. */
export const SAMPLES_KEPT_MAX: number = 256 * 1024;

/** Most bytes of native histograms of a request, as they are stored: nine for each of one on the wire, at worst. */
export const HISTOGRAM_BYTES_MAX: number = 256 * 1024 * 1024;

/** Bytes of native histograms for which a decoder keeps room between requests. */
export const HISTOGRAM_BYTES_KEPT_MAX: number = 4 * 1024 * 1024;

/** Most databases and physical tables that the labels of one decoder's series may name. Reason: each is a dictionary and a write. */
export const TARGETS_MAX = 64;

/**
 * Most paths of label names that a decoder remembers; a path takes 400 bytes. Reason: fleets have some hundreds, and whoever sends other
 * names with every series must not fill the memory. Series beyond it are read label by label, as if they were unusual.
 */
export const LABEL_NODES_MAX = 16_384;

/** Bytes of label records that the kernel of a decoder may keep. Reason: labels lie in the dictionary as well; 400,000 series fit. */
export const KNOWN_SERIES_BYTES_MAX: number = 64 * 1024 * 1024;

/** Samples that a decoder has read before it takes memory for the kernel. Reason: who sends few needs no speed. */
export const KNOWN_SERIES_AFTER: number = 16 * 1024;

/** Samples for which there is room at first. */
export const SAMPLES_AT_FIRST = 2048;

/** Most queries of a read request; Prometheus sends one. */
export const READ_QUERIES_MAX = 64;

/** Most matchers of a query. */
export const READ_MATCHERS_MAX = 256;

/** Most bytes of series that one read holds in memory, before they are sent: 11M samples, or 50M and more as chunks. */
export const READ_BYTES_MAX: number = 192 * 1024 * 1024;

/** Steps of a matcher over all values of its label, at 7 ns or so. Reason: the thread that runs them serves everyone. */
export const READ_REGEX_STEPS_MAX = 2_000_000_000;
