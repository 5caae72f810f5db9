/** Follows a stream for as long as its reader wants, over elections and lost connections: each message once, in order. */
import type { CallOptions, StreamMessage } from "../port/message.ts";
import { PortError, portFailureOf, replaced, trimmed, wentBack } from "../port/port-error.ts";
import type { NatsLink } from "./nats-link.ts";
import { type PulledMessage, PulledMessages } from "./pulled-messages.ts";
import { streamInfo } from "./streams.ts";

/** What is followed. */
export interface Followed extends CallOptions {
  readonly link: NatsLink;
  readonly stream: string;
  readonly subject: string;
  /** Whether the subject has all of the stream, so that its numbers have no holes. */
  readonly isDense: boolean;
}

/** What a reader waits before it asks again, when nobody answered. */
const AGAIN_MILLIS = 300;
/** A new leader may know a little less than the one before, for so long. */
const BEHIND_MILLIS = 5000;
/** How often it is asked meanwhile. */
const BEHIND_LOOK_MILLIS = 500;

/**
 * Messages above `after`.
 *
 * @throws PortError trimmed, went-back, replaced, vanished, denied, closed
 */
export async function* followStream(after: number, followed: Followed): AsyncGenerator<readonly StreamMessage[]> {
  const { link, signal } = followed;
  const isOver = (): boolean => signal?.aborted === true;
  let at = after;
  let created: string | undefined;
  /** Where each session begins: if that message is another by then, the stream went back and has got others since. */
  let newest: PulledMessage | undefined;
  /** Returns whether the stream was shorter than what was read: then what is there may be others' by now. */
  const looked = async (): Promise<boolean> => {
    const look = await lookAt(followed, at, created);
    ({ created } = look);
    return look.wasBehind;
  };
  while (!isOver()) {
    let session: PulledMessages | undefined;
    try {
      await looked();
      session = await PulledMessages.open(link, startOf(followed, newest === undefined ? at + 1 : at), signal);
      for (;;) {
        const pulled = await session.next(signal);
        if (isOver()) return;
        if (pulled === "ended") break;
        if (pulled === "idle" && (await looked())) break;
        if (pulled === "idle") continue;
        const [first] = pulled;
        if (newest !== undefined && first?.number === at && first.stamp !== newest.stamp) throw replaced(followed.stream, at);
        const news = pulled.filter(({ number }) => number > at);
        const hole = followed.isDense ? holeIn(news, at) : undefined;
        const list = hole === undefined ? news : news.filter(({ number }) => number < hole[0]);
        at = list.at(-1)?.number ?? at;
        if (followed.isDense) newest = list.at(-1) ?? newest;
        if (list.length > 0) yield list;
        if (hole !== undefined) throw trimmed(followed.stream, ...hole);
      }
    } catch (error) {
      const failure = portFailureOf(error);
      if (failure === "cancelled" && isOver()) return;
      if (failure !== "unavailable") throw error;
    } finally {
      session?.close();
    }
    if (link.closed.aborted) throw new PortError("closed", `cannot follow stream ${followed.stream}: the port was closed`);
    await link.sleep(AGAIN_MILLIS, signal);
  }
}

function startOf({ stream, subject, isDense }: Followed, first: number): Parameters<typeof PulledMessages.open>[1] {
  const start = { stream, deliver_policy: "by_start_sequence", opt_start_seq: first } as const;
  return isDense ? start : { ...start, filter_subject: subject };
}

/**
 * Whether the stream is still the one that was followed, and has what comes next.
 *
 * @param created when it was made, as far as known
 */
async function lookAt(
  { link, stream, isDense, signal }: Followed,
  at: number,
  created: string | undefined,
): Promise<{ readonly created: string; readonly wasBehind: boolean }> {
  let info = await streamInfo(link, stream, signal);
  let wasBehind = false;
  for (let waited = 0; info.state.last_seq < at && (created ?? info.created) === info.created; waited += BEHIND_LOOK_MILLIS) {
    if (waited >= BEHIND_MILLIS) break;
    wasBehind = true;
    await link.sleep(BEHIND_LOOK_MILLIS, signal);
    info = await streamInfo(link, stream, signal);
  }
  if (created !== undefined && info.created !== created) {
    throw new PortError("went-back", `cannot go on with stream ${stream}: it was deleted, and made anew at ${info.created}`);
  }
  const { first_seq: first, last_seq: last } = info.state;
  if (last < at) throw wentBack(stream, last, at);
  if (isDense && first > at + 1) throw trimmed(stream, at + 1, first);
  return { created: info.created, wasBehind };
}

/** The first number that is missing, and the one that is there instead. */
function holeIn(list: readonly StreamMessage[], at: number): [wanted: number, first: number] | undefined {
  let last = at;
  for (const { number } of list) {
    if (number !== last + 1) return [last + 1, number];
    last = number;
  }
  return undefined;
}
