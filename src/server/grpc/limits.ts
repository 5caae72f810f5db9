/** Limits of the gRPC server. Error of each: the connection is closed, or the call refused with RESOURCE_EXHAUSTED. */

/** Most connections. Reason: each takes a descriptor and its windows. */
export const CONNECTIONS_MAX = 1024;

/** Most calls under way on one connection. Reason: clients know it and keep the rest with them. */
export const STREAMS_MAX = 256;

/** Bytes that a client may send ahead on a stream. Reason: with 64 KiB, the default, uploads of megabytes wait for round trips. */
export const WINDOW_BYTES = 1_048_576;

/** Milliseconds until a connection has made its first call, its handshake included. */
export const OPENING_MS_MAX = 10_000;

/** Milliseconds without a call after which a connection is closed: clients connect again by themselves. */
export const IDLE_MS_MAX = 900_000;

/** Milliseconds between looks after connections. */
export const LOOK_MS = 1000;

/** Most calls that a client may cancel within a look before its connection is closed. Reason: CVE-2023-44487, rapid resets. */
export const RESETS_MAX = 1000;

/** Bytes of headers of a call. */
export const HEADER_BYTES_MAX = 65_536;

/** Longest deadline of a call: longer ones are refused. */
export const DEADLINE_MS_MAX = 86_400_000;

/** Answers below it are not compressed: it costs more than it saves. */
export const COMPRESS_BYTES_MIN = 1024;

/** Milliseconds that a bearer token is good for. Clients keep one as long as their connection; after that they sign in anew. */
export const TOKEN_MS: number = 24 * 60 * 60_000;

/** Bytes of a message as JSON. Reason: the library reads it into objects at once, on the thread: some 40 ms. Send more as protobuf. */
export const JSON_BYTES_MAX = 1_048_576;
