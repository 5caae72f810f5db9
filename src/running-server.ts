/** What a process that serves is to `program.ts`, whatever its role. */
export interface RunningServer {
  /** Where it is reached, for the line "ready at": `http://host:port`. */
  readonly url: string;
  /** Resolves with why when it cannot go on by itself: it is to be stopped then, and the process fails. Absent: never. */
  readonly over?: Promise<string>;
  /** Reads accounts and certificates again, on all threads. Never rejects: the log says what came of it. */
  reload(): Promise<void>;
  /** Stops accepting, finishes requests, flushes, closes, in this order. */
  stop(): Promise<void>;
}
