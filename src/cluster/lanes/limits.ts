/** Limits of lanes that no configuration key sets. */
import { assert } from "../../base/assert.ts";

/** Most messages of a lane under way. Reason: enough to keep a stream busy; while they are, records gather. */
export const IN_FLIGHT_MAX = 4;

/** Longest message that a lane makes, in bytes, where its port takes longer ones. Reason: beyond it nothing is gained. */
export const LANE_MESSAGE_BYTES_MAX: number = 1024 * 1024;

/** Most bytes of a lane's records that wait or are under way. Reason: a frontend's memory. Error: RateLimited. */
export const LANE_BYTES_MAX: number = 64 * 1024 * 1024;

/**
 * Most bytes of messages that a lane keeps once they are acknowledged. Reason: twice a segment, so that one is there as a whole; at 80
 * MiB/s the last second.
 */
export const LANE_KEPT_BYTES_MAX: number = 64 * 1024 * 1024;

/** A segment takes no further record after this time, or with this many bytes. Reason: a follower holds what it defined. */
export const SEGMENT_MILLIS = 60_000;
export const SEGMENT_BYTES_MAX: number = 32 * 1024 * 1024;

/** An answer that comes later after the first record of a segment is not believed: the follower lets its definitions go after 120 s. */
export const BELIEVED_MILLIS = 90_000;

/** A lane that was silent for so long goes on as a new writer. Reason: followers forget writers. */
export const SILENT_MILLIS = 600_000;

/** How long a failed append waits before the next try. */
export const AGAIN_MILLIS = 200;

/** How long records are sent again: longer than an election. Error: StorageUnavailable, or RateLimited where the log is full. */
export const WAIT_MILLIS = 30_000;

/** How long a lane that is closed waits for what is under way. */
export const CLOSE_MILLIS = 10_000;

/** How often who waits looks whether the shard's owner has caught up. */
export const LAG_POLL_MILLIS = 100;

assert(SEGMENT_MILLIS < BELIEVED_MILLIS, "what a segment takes last has time to be answered");
