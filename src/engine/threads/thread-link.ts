/**
 * The two ends of the connection between an ingest thread and the owner of the tables. `worker-link.ts` connects threads; tests connect
 * both ends on one thread.
 */
import type { Call, FromThread, Reply, ToThread } from "./messages.ts";

/** The end of the thread. */
export interface ThreadLink {
  /** Puts a message at the end of the queue. It may be read at once. */
  post(message: FromThread): void;
  /** Asks and stands still until the reply. @throws DbError StorageUnavailable when the process is going down */
  call(call: Call): Reply;
  /** Sets who gets the owner's messages. */
  listen(take: (message: ToThread) => void): void;
}

/** The end of the owner. */
export interface OwnerLink {
  /** The oldest message that was not taken, at once; undefined when there is none. */
  receive(): FromThread | undefined;
  /** How many messages the thread has posted, as an int32 that wraps. */
  posted(): number;
  post(message: ToThread): void;
  /** Answers the call that the thread stands still for. */
  reply(reply: Reply): void;
  /** Sets what is called, on a later turn, when messages wait to be received. */
  onWaiting(wake: () => void): void;
  close(): void;
}
