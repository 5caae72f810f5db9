/** Limits of the port that no configuration key sets. */
import { assert } from "../../base/assert.ts";

/** Most appends of one port under way. Reason: each holds its record and a timer; 1,024 shards by 4 are all that lanes send. */
export const APPENDS_IN_FLIGHT_MAX = 4096;

/** Most bytes of one port's appends under way. Reason: a frontend's memory. Error: PortError unavailable. */
export const APPEND_BYTES_IN_FLIGHT_MAX: number = 256 * 1024 * 1024;

/** What one follower reads ahead, in bytes. Reason: 8 MiB are 30 ms at the speed of a stream; a node follows dozens. */
export const FOLLOW_BYTES_MAX: number = 8 * 1024 * 1024;

/** The same in messages. Reason: small ones cost objects. */
export const FOLLOW_MESSAGES_MAX = 4096;

/** How long a follower with nothing to read waits before it looks whether its stream is what it was, in milliseconds. */
export const FOLLOW_CHECK_MILLIS = 2000;

/** Largest message that a port may have, in bytes, whatever its servers take. Reason: what a follower reads ahead has room for some. */
export const MESSAGE_BYTES_MAX: number = 2 * 1024 * 1024;

/** Largest value of a lease in bytes. Reason: all watchers hold all of them; a node tells of up to 1,024 shards in one. */
export const LEASE_VALUE_BYTES_MAX: number = 64 * 1024;

assert(4 * MESSAGE_BYTES_MAX <= FOLLOW_BYTES_MAX, "half of what a follower reads ahead has room for the next message and its head");
