/** One message of a stream, asked of the stream's leader: copies that are behind do not answer. */
import { API_CODE, failureOfAnswer } from "./nats-failure.ts";
import { LOOK_MILLIS, type NatsLink } from "./nats-link.ts";

/** A message as it is stored. */
export interface StoredMessage {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** "Name: value" lines; "" without any. */
  readonly headers: string;
}

/** Which one: the first at or above a number with a subject, or the last with it. */
export type StoredQuery = { readonly seq: number; readonly next_by_subj: string } | { readonly last_by_subj: string };

interface Answer {
  readonly message: { readonly seq: number; readonly data?: string; readonly hdrs?: string };
}

/** @returns undefined: there is none. @throws PortError */
export async function storedMessage(
  link: NatsLink,
  stream: string,
  query: StoredQuery,
  signal?: AbortSignal,
): Promise<StoredMessage | undefined> {
  const what = `read stream ${stream}`;
  const answer = await link.apiOr<Answer>(`STREAM.MSG.GET.${stream}`, query, { what, signal, waitMillis: LOOK_MILLIS });
  if ("error" in answer) {
    if (answer.error.err_code === API_CODE.noMessage) return undefined;
    throw failureOfAnswer(what, answer.error, false);
  }
  const { seq, data = "", hdrs = "" } = answer.message;
  return { number: seq, bytes: Uint8Array.fromBase64(data), headers: Buffer.from(hdrs, "base64").toString("latin1") };
}
