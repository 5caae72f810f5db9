/** Limits of HTTP/2 connections that no setting changes. Each says what happens to what passes it. */

/** Most streams that are open at a time on a connection. Clients are told; one more is refused (REFUSED_STREAM): it may come again. */
export const STREAMS_MAX = 256;

/** Bytes that a client may send ahead on a stream; more ends it. Reason: with the default, 64 KiB, large uploads wait for round trips. */
export const STREAM_WINDOW_BYTES = 1_048_576;

/** Bytes that a client may send ahead on all streams of a connection; more ends it. Reason: two streams at full speed. */
export const CONNECTION_WINDOW_BYTES: number = 2 * STREAM_WINDOW_BYTES;

/** Longest frame that is taken; a longer one ends the connection. Reason: of 16 KiB, the default, a megabyte takes 64. */
export const FRAME_BYTES_MAX: number = 256 * 1024;

/** Longest frame that is gathered before it is read: all but DATA. A longer one ends the connection. */
export const GATHERED_BYTES_MAX = 65_536;

/** Most bytes of a block of headers as it comes, all its frames; more ends the connection. */
export const HEADER_BLOCK_BYTES_MAX = 65_536;

/** Most frames of one block of headers; more ends the connection. Reason: CONTINUATION frames may be empty (CVE-2024-27316). */
export const HEADER_FRAMES_MAX = 32;

/** Bytes of a request's headers, names and values and 32 each: what clients are told. Longer ones are answered with 431. */
export const HEADER_LIST_BYTES_MAX = 65_536;

/** Most fields of a request's headers; more are answered with 431. */
export const HEADER_FIELDS_MAX = 1000;

/** Bytes of the table that a client's header compression may use: the protocol's default. */
export const HEADER_TABLE_BYTES_MAX = 4096;

/**
 * Frames that bring nothing (PING, SETTINGS, PRIORITY, empty DATA, refused and broken streams), less those that do, within a look; more
 * end the connection. Reason: each costs us more than its sender. A gRPC client sends a PING for every round trip with data.
 */
export const IDLE_FRAMES_MAX = 10_000;

/** Bytes of answers to such frames that wait since the client reads nothing; more end the connection. */
export const CONTROL_BYTES_MAX = 65_536;

/** Bytes of one stream's answer that wait for its client, at which its writer is told to wait. */
export const STREAM_ANSWER_BYTES: number = 256 * 1024;

/** Bytes of frames that are handed to the socket at once. Reason: a call to the kernel each. */
export const BATCH_BYTES: number = 256 * 1024;

/** Longest piece of one stream's body among those of others, as a frame's length may be large. */
export const TURN_BYTES: number = 64 * 1024;

/** Streams that were ended here and whose frames may still be under way; those of others that are over are an error. */
export const RESET_STREAMS_KEPT = 512;

/** Milliseconds without a byte of a client with open streams, after which it is asked whether it is there. */
export const QUIET_MS_MAX = 60_000;

/** Milliseconds in which it must answer that. */
export const PING_MS_MAX = 30_000;

/** Milliseconds until a connection that was told why it ends is cut, and a stream that was answered before its body was whole. */
export const LINGER_MS = 1000;
