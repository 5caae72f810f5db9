/** Limits and times of ownership that no configuration key sets. */
import { assert } from "../../base/assert.ts";
import { LEASE_VALUE_BYTES_MAX } from "../port/limits.ts";

/** Most shards of a cluster. Reason: a node may own all of them, and tells of each in one value. */
export const CLUSTER_SHARDS_MAX = 1024;

/** Most data nodes of a cluster. Reason: each tells all others each second; above it nodes are passed over, and named in the log. */
export const NODES_MAX = 2048;

/** Most frontends of a cluster. Reason: each asks all others what runs there; above it they are passed over, and named in the log. */
export const FRONTENDS_MAX = 256;

/** Pairs of a shard and a node that there can be. Reason: a score and the place of its pair fit into one double, 53 bits. */
export const PAIRS_MAX: number = 2 ** 21;
assert(CLUSTER_SHARDS_MAX * NODES_MAX <= PAIRS_MAX, "all shards have a score for all nodes");

/** A lease is renewed so often in its time: each 600 ms where it has 3 s. Reason: four may fail before it ends. */
export const RENEWALS_PER_LEASE = 5;

/** Most renewals without an answer in the time of a lease: each waits for 900 ms where it has 3 s. */
export const SILENT_RENEWALS_MAX: number = 10 / 3;

/** How soon leases are followed again after that failed, in milliseconds. */
export const FOLLOW_AGAIN_MILLIS = 1000;

/** How soon a call to the leases that failed is made again, in milliseconds. */
export const AGAIN_MILLIS = 250;

/**
 * Wait after a call to the leases that NATS denied, or whose stream is gone, in milliseconds: the first time, and at most. It doubles each
 * time. Reason: an operator has to do something, and then it should be seen soon.
 */
export const DENIED_MILLIS = 1000;
/** See `DENIED_MILLIS`. */
export const DENIED_MILLIS_MAX = 30_000;

/** How often a keeper looks at everything where nothing was told, in milliseconds. */
export const LOOK_MILLIS = 500;

/** Longest that a node which starts waits for servers that do not answer, in milliseconds: several elections. */
export const JOIN_MILLIS = 60_000;

/**
 * How long a node that joined takes no shard that nobody has served since, in milliseconds. Reason: of nodes that start together the first
 * would take all.
 */
export const SETTLE_MILLIS = 1000;

/** Shards that a node opens at once. Reason: each reads the end of a log, and they share a thread. */
export const OPENINGS_MAX = 4;

/**
 * How long an opening may take, in milliseconds: the first time, and at most. It doubles each time that it was too little. Reason: it may
 * be stuck, and nobody else can have the shard meanwhile; two minutes read 25 GiB of a log.
 */
export const OPEN_MILLIS = 120_000;
/** See `OPEN_MILLIS`. */
export const OPEN_MILLIS_MAX = 480_000;

/** How long what was told to end may take, in milliseconds. Reason: hosts keep to 10 s; the lease of one that hangs must not stay. */
export const END_MILLIS = 15_000;

/** How long each node in the order of a shard's rank waits for the one before it to serve it, in milliseconds. */
export const TURN_MILLIS = 10_000;

/** How long who took a shard out of turn keeps it, in milliseconds: the first time, and at most. It doubles each time. */
export const KEEP_MILLIS = 60_000;
/** See `KEEP_MILLIS`. */
export const KEEP_MILLIS_MAX: number = 15 * 60_000;

/** Wait after a shard that failed, in milliseconds: the first time, and at most. It doubles each time. */
export const FAILED_MILLIS = 1000;
/** See `FAILED_MILLIS`. */
export const FAILED_MILLIS_MAX = 30_000;

/** How long a shard must be served for its failures before to be forgotten, in milliseconds. */
export const SOUND_MILLIS = 60_000;

/** Shards of the whole cluster that change hands at once, so that queries stay whole. */
export const MOVES_MAX = 2;

/** How long a shard that nobody serves counts as one that changes hands, in milliseconds. Reason: a broken one must not hold up others. */
export const MOVE_MILLIS = 60_000;

/** Shards that a node which stops hands over at once. Reason: it has `STOP_MILLIS` for all of them. */
export const STOP_MOVES_MAX = 4;

/** How long a node that stops waits for others to take its shards, in milliseconds. Reason: service managers kill after 30 s or more. */
export const STOP_MILLIS = 15_000;

/** What a record counts in bytes where only their number is known. Reason: lanes under load send 25 KiB to 1 MiB. */
export const LAG_RECORD_BYTES: number = 64 * 1024;

/** Most characters of an address, an identity and a version in a member's value. */
export const ADDRESS_CHARACTERS_MAX = 255;
/** See `ADDRESS_CHARACTERS_MAX`. */
export const IDENTITY_CHARACTERS_MAX = 128;
/** See `ADDRESS_CHARACTERS_MAX`. */
export const VERSION_CHARACTERS_MAX = 64;

/** Shards that fail of which a node tells, and most characters of why. */
export const FAILING_MAX = 8;
/** See `FAILING_MAX`. */
export const REASON_CHARACTERS_MAX = 200;

/** Most bytes that one shard takes in a node's value: two digits of base 36 and four times eleven, with what parts them. */
const SHARD_BYTES_MAX = 2 + 4 * 11 + 5;
/** Most bytes of a character in JSON: `\u0000`. */
const CHARACTER_BYTES_MAX = 6;
const HEAD_BYTES_MAX = ADDRESS_CHARACTERS_MAX + CHARACTER_BYTES_MAX * (IDENTITY_CHARACTERS_MAX + VERSION_CHARACTERS_MAX) + 256;
const FAILING_BYTES_MAX = FAILING_MAX * (CHARACTER_BYTES_MAX * REASON_CHARACTERS_MAX + 16);

assert(
  CLUSTER_SHARDS_MAX * SHARD_BYTES_MAX + HEAD_BYTES_MAX + FAILING_BYTES_MAX <= LEASE_VALUE_BYTES_MAX,
  "what a node tells of all shards fits into the value of its lease",
);
