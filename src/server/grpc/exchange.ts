/** A request and its answer, whichever version of HTTP they come by: what the handler knows of them. */
import type { ConnectError, ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { BodyFlow, IncomingMessages } from "./messages/incoming-messages.ts";

/** Fields of a head or of trailers. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** How a call is answered that has one message and one answer, without the library (unary-calls.ts). */
export interface AtOnce {
  /** Hears when the client leaves. Set it before the handler returns. */
  onLeft: (reason: ConnectError) => void;
  /** Sends an answer: its head, its message, which may be absent, and its trailers. */
  sendAll(head: Fields, frame: Uint8Array | undefined, trailers: Fields): void;
}

/** See the file header. */
export interface Exchange {
  readonly isHttp2: boolean;
  readonly method: string;
  /** The path, without what is asked of it. */
  readonly path: string;
  /** The name that the client calls the server by. */
  readonly authority: string | undefined;
  readonly headers: Headers;
  /** Address of the client, `host:port`. */
  readonly client: string;
  /** Absent where only the library answers: over HTTP/1.1, and what is asked of more than a path or of no server. */
  readonly atOnce: AtOnce | undefined;
  /** Lets the client send on. */
  readonly flow: BodyFlow;
  /** Whether the head of the answer is sent. */
  readonly isAnswered: boolean;
  /** What the library is asked. @throws TypeError when path and name make no URL */
  request(body: IncomingMessages, values: ContextValues): UniversalServerRequest;
  /** Sends the body to `body`, which is released when the exchange is over. At once: what comes before is lost. */
  receive(body: IncomingMessages): void;
  /** Sends the head of the answer before its first message, where the version can. */
  sendHead(headers: Readonly<Record<string, string>>): void;
  /** Sends an answer. Resolves when it is handed over; rejects when its client left. */
  send(answer: UniversalServerResponse): Promise<void>;
  /** Sends a short answer. */
  sendText(status: number, headers: Readonly<Record<string, string>>, text: string): void;
}
