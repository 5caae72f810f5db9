/** What a connection of HTTP/2 stands on, and what it is told. */
import type { Sink } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";

/** What a connection stands on. */
export interface Http2Socket extends Sink {
  on(event: "data", heard: (chunk: Uint8Array) => void): unknown;
  on(event: "close", heard: () => void): unknown;
  end(): unknown;
  destroy(): unknown;
}

/** Why the server ended a connection. */
export type Http2End =
  | "broke the protocol"
  | "too many cancelled calls"
  | "too many frames that bring nothing"
  | "took nothing"
  | "does not answer";

/** What a connection needs. */
export interface Http2Options {
  readonly now: () => number;
  /** Answers a request: now or later. */
  readonly onRequest: (stream: Http2Stream) => void;
  /** Hears why the server ends the connection, if it does. */
  readonly onEnded: (reason: Http2End, why: string) => void;
  /** Most streams that a client may take back between looks. */
  readonly resetsMax: number;
  /** Milliseconds that a client may take nothing of what is sent. */
  readonly writeMsMax: number;
}
