/** Limits of the wire between frontends and owners of shards. */
import { assert } from "../../base/assert.ts";
import { PLAN_BYTES_MAX } from "../../query/plan-format/tags.ts";

/** Bytes of a piece of an answer after which it is sent. Reason: a piece a batch keeps sockets busy; whoever does not read holds two. */
export const PIECE_BYTES: number = 256 * 1024;

/** How long frames that do not fill a piece wait for others. Reason: first rows are to be seen soon, and a piece costs a system call. */
export const FLUSH_MILLIS = 4;

/** How often a node that has nothing to send says that it lives. */
export const ALIVE_MILLIS = 2000;

/** Silence after which a frontend takes a node for dead. Reason: failover takes 8 s; a busy thread may be late by some seconds. */
export const SILENCE_MILLIS = 10_000;

/** Silence after which a frontend leaves a node where another one owns the shard. Reason: one that lives says so every 2 s. */
export const QUIET_MILLIS = 3000;

/** How long a frontend looks for an owner that answers. Reason: a shard is open 8 s after its owner died. Error: StorageUnavailable. */
export const OWNER_MILLIS = 15_000;

/** How long a frontend waits before it asks a node again, unless owners change sooner. */
export const AGAIN_MILLIS = 200;

/** Most bytes of a frame behind its head: rows as the plan format has them. Error: InvalidArguments. */
export const FRAME_BYTES_MAX: number = PLAN_BYTES_MAX + 64;

/** Most bytes of a request: a plan, or keys of rows. Error: InvalidArguments. */
export const REQUEST_BYTES_MAX: number = PLAN_BYTES_MAX + 64;

/** Most shards of one request: all that a cluster may have. Error: InvalidArguments. */
export const SHARDS_IN_REQUEST_MAX = 1024;

/** Most series of one frame. Reason: whoever reads makes arrays of so many before it has seen their tags. */
export const SERIES_IN_FRAME_MAX = 4096;

/** Most tags of a series, far above what a table may have. Reason: as before. */
export const TAGS_MAX = 65_536;

/** Most bytes of a text that refuses a request. */
export const REFUSAL_BYTES_MAX = 4096;

assert(ALIVE_MILLIS < QUIET_MILLIS, "a node that lives is not left");
assert(ALIVE_MILLIS * 4 < SILENCE_MILLIS, "a node that lives may be late with some of its words");
