/** Both ends of an ingest thread's connection on one thread: what is posted is taken on a later turn, or when the owner drains. */
import { assert } from "../../src/base/assert.ts";
import type { FromThread, Reply, ToThread } from "../../src/engine/threads/messages.ts";
import type { OwnerLink, ThreadLink } from "../../src/engine/threads/thread-link.ts";

/** A connection. */
export interface Links {
  readonly thread: ThreadLink;
  readonly owner: OwnerLink;
  /** Ends it, as a power cut does. */
  cut(): void;
}

/** Connects two ends. */
export function makeLinks(): Links {
  const queue: FromThread[] = [];
  let take: (message: ToThread) => void = () => undefined;
  let wake: () => void = () => undefined;
  let reply: Reply | undefined;
  let isCut = false;
  let posted = 0;
  const post = (message: FromThread): void => {
    queue.push(message);
    posted++;
    // Some turns later than the writer goes on, so that tests see whether rows are drained when they are asked for.
    setImmediate(() => setImmediate(() => isCut || wake()));
  };
  return {
    thread: {
      post,
      call: (call) => {
        queue.push({ kind: "call", call });
        posted++;
        wake(); // The owner runs while the thread stands still.
        assert(reply !== undefined, "the owner replies to a call");
        const answer = reply;
        reply = undefined;
        return answer;
      },
      listen: (listener) => {
        take = listener;
      },
    },
    owner: {
      receive: () => (isCut ? undefined : queue.shift()),
      posted: () => posted,
      post: (message) => {
        setImmediate(() => {
          if (!isCut) take(message);
        });
      },
      reply: (answer) => {
        reply = answer;
      },
      onWaiting: (listener) => {
        wake = listener;
      },
      close: () => undefined,
    },
    cut: () => {
      isCut = true;
    },
  };
}
