/** Limits of a node's side of the wire. */

/** Fragments and calls under way. Reason: each holds a scan's files and snapshot. More wait. */
export const RUNNING_MAX = 1024;

/** Requests that wait for their turn. Error: RateLimited. */
export const WAITING_MAX = 1024;

/** How long a request waits for its turn. Error: RateLimited. */
export const TURN_MILLIS = 5000;

/**
 * How long a request waits until its shard has seen what it must have seen. Reason: a node that is so far behind is no help, and another
 * one may own the shard by then. Error: the node refuses it, and the frontend asks again.
 */
export const REACH_MILLIS = 10_000;

/** How long a frontend may leave a piece of an answer where it is. Reason: a scan holds files, and nobody may come any more. */
export const STALL_MILLIS: number = 10 * 60 * 1000;

/** Lines of the log about requests that were refused, each minute. Reason: strangers cause them. */
export const REFUSALS_SAID_MAX = 6;
export const REFUSALS_SAID_MILLIS = 60_000;
