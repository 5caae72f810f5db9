/** Limits of the gRPC server. Error of each: the connection is closed, or the call refused with RESOURCE_EXHAUSTED. */

/** Most connections. Reason: each takes a descriptor and its windows. */
export const CONNECTIONS_MAX = 1024;

/** Milliseconds until a connection has made its first call, its handshake included. */
export const OPENING_MS_MAX = 10_000;

/** Milliseconds without a call after which a connection is closed: clients connect again by themselves. */
export const IDLE_MS_MAX = 900_000;

/** Milliseconds between looks after connections. */
export const LOOK_MS = 1000;

/** Most calls that a client may cancel within a look before its connection is closed. Reason: CVE-2023-44487, rapid resets. */
export const RESETS_MAX = 1000;

/** Milliseconds in which a client must take some of what it is sent. Reason: a query that waits holds its snapshot and memory. */
export const WRITE_MS_MAX = 60_000;

/** Bytes of headers of a call. */
export const HEADER_BYTES_MAX = 65_536;

/** Longest deadline of a call: longer ones are refused. */
export const DEADLINE_MS_MAX = 86_400_000;

/** Answers below it are not compressed: it costs more than it saves. */
export const COMPRESS_BYTES_MIN = 1024;

/** Milliseconds that a bearer token is good for. Clients keep one as long as their connection; after that they sign in anew. */
export const TOKEN_MS: number = 24 * 60 * 60_000;

/** Bytes that count for a message beside its own. Reason: messages may be empty, and wait in thousands. */
export const MESSAGE_OVERHEAD_BYTES = 128;

/** Bytes of messages that wait for memory, of all calls; more are refused (RESOURCE_EXHAUSTED). Reason: nothing counts them. */
export const HELD_BYTES_MAX: number = 64 * 1024 * 1024;

/** Messages that a call hands on before others have a turn: those that came together would keep the thread. */
export const MESSAGES_A_TURN = 16;

/** Bytes of a body of HTTP/1.1 that come before they are wanted; then its client waits. HTTP/2 has windows for that. */
export const BODY_BYTES_AHEAD = 1_048_576;

/** Lengths of buffers of messages that are kept for others. Reason: shorter ones are cheap, longer ones are rare. */
export const KEPT_BUFFER_BYTES_MIN = 16_384;
export const KEPT_BUFFER_BYTES_MAX = 1_048_576;

/** Bytes of buffers that are kept; more are let go. */
export const KEPT_BUFFERS_BYTES_MAX: number = 16 * 1024 * 1024;

/** The same of long buffers, those of bulk inserts, and how long one is kept that nobody takes. */
export const LONG_BUFFER_BYTES_MAX: number = 16 * 1024 * 1024;
export const LONG_BUFFERS_BYTES_MAX: number = 32 * 1024 * 1024;
export const LONG_BUFFERS_MS = 2000;
/** Bytes of a message as JSON. Reason: the library reads it into objects at once, on the thread: some 40 ms. Send more as protobuf. */
export const JSON_BYTES_MAX = 1_048_576;
