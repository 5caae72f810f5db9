/**
 * What a handler answers, before CORS headers are added and Bun's `Response` is made.
 */

/** Body of an answer; undefined = empty. A stream that fails makes the server drop the connection. */
export type ReplyBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | undefined;

export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

/** Content type of texts. */
const TEXT_TYPE = "text/plain; charset=utf-8";
/** Content type of JSON. */
export const JSON_TYPE = "application/json";

const NO_HEADERS: Readonly<Record<string, string>> = {};
const TEXT_HEADERS: Readonly<Record<string, string>> = { "content-type": TEXT_TYPE };
const JSON_HEADERS: Readonly<Record<string, string>> = { "content-type": JSON_TYPE };

/** An answer without a body. */
export function emptyReply(status: number, headers: Readonly<Record<string, string>> = NO_HEADERS): Reply {
  return { status, headers, body: undefined };
}

/** A plain text. */
export function textReply(status: number, body: string): Reply {
  return { status, headers: TEXT_HEADERS, body };
}

/** JSON that was printed already. */
export function jsonReply(status: number, body: string): Reply {
  return { status, headers: JSON_HEADERS, body };
}

/** 204 without a body: what writes answer. */
export const NO_CONTENT: Reply = emptyReply(204);

/** Drops a body that will not be sent; a stream's source is told to stop. */
export async function discardBody(reply: Reply): Promise<void> {
  if (reply.body instanceof ReadableStream) await reply.body.cancel();
}
