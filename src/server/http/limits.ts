/**
 * Limits of the HTTP server that no configuration key sets.
 */

/** Bytes of an answer that are held back before its status is committed: an error up to here still gets its own status. */
export const ANSWER_HOLD_BYTES: number = 1024 * 1024;

/** Largest body of `/debug/*`, in bytes. Reason: they take a word. Error: 413. */
export const DEBUG_BODY_BYTES_MAX: number = 2 * 1024 * 1024;

/** Longest error text in a header, in bytes. Reason: clients limit the header block to 8 KiB or more. It is cut. */
export const ERROR_HEADER_BYTES_MAX = 2048;

/** Seconds without a byte after which a connection that sends a request or takes a streamed answer is dropped. Bun allows 255 at most. */
export const CONNECTION_IDLE_SECONDS = 60;

/** Seconds without a byte taken after which a streamed answer is dropped, so that a stalled reader does not hold a snapshot for ever. */
export const STREAM_IDLE_SECONDS = 255;

/** Longest that a request body may take, in milliseconds, however steadily it trickles. Error: 408. */
const BODY_READ_MS_MAX = 300_000;

/** Compressed bodies up to this many bytes are decoded on the main thread: a hop to the pool costs more. */
export const INLINE_DECODE_BYTES_MAX: number = 16 * 1024;

/** Most requests that wait for room under the in-flight limit. Reason: each is a connection and an open request. Error: 429. */
export const IN_FLIGHT_WAITERS_MAX = 4096;

/** Bytes that a body takes before any of it is read. Bodies up to this are always reserved whole. Reason: a connection holds them. */
export const BODY_FIRST_BYTES: number = 4 * 1024;

/** Longest body that may be reserved whole before it comes. Reason: beyond it a copy of it is small beside the rest of the work. */
export const BODY_PROMISED_BYTES_MAX: number = 8 * 1024 * 1024;

/** Times what has come of a body that is set aside for it. Reason: its buffer gets longer seldom, and is copied a third in all. */
export const BODY_AHEAD_TIMES = 4;

/** The same where that is not free: so much longer at least, so that the copies stay few. */
export const BODY_LONGER_TIMES = 1.25;

/** Milliseconds after which the rate of a body, or of an answer that is taken, is looked at. */
const BODY_GRACE_MS = 20_000;

/** Bytes a second that a body must bring on the average. Reason: slower ones hold a connection for nothing. Error: 408, closed. */
const BODY_BYTES_PER_SECOND_MIN = 4 * 1024;

/** How slow a body may be; tests make it shorter. */
export interface PaceLimits {
  readonly graceMs: number;
  readonly bytesPerSecondMin: number;
  readonly msMax: number;
}

/** Those of every server. */
export const BODY_PACE: PaceLimits = { graceMs: BODY_GRACE_MS, bytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN, msMax: BODY_READ_MS_MAX };

/**
 * Times its length that a compressed body is taken to unfold to where it does not say so; room for more is taken when it comes. Line
 * protocol unfolds 8 to 14 times.
 */
export const UNFOLD_RATIO = 16;

/** Bodies up to this many bytes are read whole before a request goes to the main thread; longer ones are passed on as they come. */
export const FORWARD_WHOLE_BYTES_MAX: number = 1024 * 1024;

/** Longest that a request waits until others that are passed on have their answers, in milliseconds. Error: 503. */
export const FORWARD_WAIT_MS = 10_000;

/** Requests on their way to the main thread, of all threads. Reason: the runtime's client has 256 connections at most. Error: 503. */
export const FORWARDED_MAX = 240;

/** Probes on their way to the main thread beside those, of all threads. Reason: together they stay below the client's connections. */
export const FORWARDED_PROBES_MAX = 12;

/** Rows of a table that a dry run of line protocol shows. */
export const DRY_RUN_LINES_SHOWN_MAX = 100;

/** Most items of a dry run of a pipeline. */
export const DRY_RUN_ROWS_MAX = 10;

/** Largest query of logs, in bytes. Reason: it is parsed at once. Error: 413. */
export const LOG_QUERY_BYTES_MAX: number = 256 * 1024;

/** Largest buffer for snappy blocks that a thread keeps; larger blocks are unfolded into memory of their own. */
export const SNAPPY_SCRATCH_BYTES_MAX: number = 8 * 1024 * 1024;

/** Bytes of a remote read's answer that are made in one turn: a few milliseconds of compression. */
export const READ_TURN_BYTES: number = 512 * 1024;
