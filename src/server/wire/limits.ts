/** Limits of the MySQL and PostgreSQL servers that no setting changes. */

/** Most connections of a server at a time. Reason: each holds a session. Further ones take the place of one that has not signed in. */
export const CONNECTIONS_MAX = 4096;

/** Milliseconds in which a client must have signed in. Reason: until then nobody knows who it is. The connection is told and closed. */
export const SIGN_IN_MS_MAX = 30_000;

/** Milliseconds without a message after which a connection is told and closed: that of MySQL's wait_timeout. */
export const IDLE_MS_MAX: number = 8 * 3_600_000;

/** Milliseconds in which a client must take some of what it is sent. Reason: a statement that waits holds its snapshot and memory. */
export const WRITE_MS_MAX = 60_000;

/** How often connections are looked at for these limits, milliseconds. */
export const LOOK_MS = 1000;

/** Longest message of a client that has not signed in, bytes. The connection is told and closed. */
export const SIGN_IN_BYTES_MAX: number = 10 * 1024;

/** Longest message of a client, bytes: a statement, the values of one, a piece of COPY. As many as a body of HTTP has by default. */
export const MESSAGE_BYTES_MAX: number = 64 * 1024 * 1024;

/** Bytes that came in while the server works, at which it stops reading. Reason: they wait in memory. */
export const WAITING_BYTES_MAX: number = 256 * 1024;

/** Milliseconds of work on messages that came together, after which the next of them waits for another turn among queries. */
export const TURN_MS_MAX = 8;

/** Bytes of answers that are gathered before they are handed to the socket. */
export const ANSWER_BYTES: number = 64 * 1024;

/** Bytes handed to the socket and not taken by the client, at which answers wait for it. */
export const UNTAKEN_BYTES_MAX: number = 256 * 1024;

/** Buffers for answers that are kept for the next: connections that rest have none. */
export const KEPT_BUFFERS_MAX = 32;
