import type { ShareLimits } from "../../table/shared-scan.ts";

/**
 * When a scan goes to workers. Average of ten columns by hour and host, 8.64M rows, warm pages, two hyper-threads of one core: 70 ms of
 * work here; in one part 70 ms there and 90 to 120 until the answer, in 18 parts 105 and 130, since what a part costs and putting groups
 * together compete with the work. So parts are large, but not so large that another query waits long for its turn; and what goes is
 * worth more than the few milliseconds of writers that a smaller scan takes.
 */
export const SHARE_LIMITS: ShareLimits = { rowsMin: 500_000, partRows: 1_000_000, partsMax: 256 };

/** Milliseconds that a query runs alone where no core is left for workers: what one costs (messages, groups put together) is a few. */
export const ALONE_MS = 8;

/**
 * Groups from which on they are many: two threads divide them by their keys. Fewer are in the cache of a core, and what a thread more
 * costs (reading all rows, hashing their keys: 3 to 10 ns a row) is more than it takes over.
 */
export const GROUPS_MIN = 16_384;
