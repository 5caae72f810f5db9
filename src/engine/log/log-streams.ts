/**
 * All log streams of a store: the one of this thread, those of ingest threads, and those that threads of an earlier process left, which are
 * read back, trimmed as their rows get into files, and removed.
 */
import type { Wal } from "../../storage/wal/wal.ts";
import { LocalStream, type LogStream, type ThreadLog } from "./log-stream.ts";

/** See the file header. */
export class LogStreams {
  /** The stream that this thread writes; of a log that others write it is empty. */
  readonly own: LocalStream;
  private readonly byId: Map<number, LogStream> = new Map();

  /** @param followed the log that this engine follows, in the place of the one that it writes */
  constructor(own: Wal, left: readonly ThreadLog[], followed?: LogStream) {
    this.own = new LocalStream(0, own);
    this.byId.set(0, followed ?? this.own);
    for (const log of left) this.byId.set(log.id, new LocalStream(log.id, log.wal, () => log.remove()));
  }

  /** All streams, this thread's first. */
  all(): readonly LogStream[] {
    return [...this.byId.values()];
  }

  /** Whether a stream may let go of more than at its last trim, though nothing was flushed since. */
  get wantsTrim(): boolean {
    for (const { wantsTrim } of this.byId.values()) if (wantsTrim === true) return true;
    return false;
  }

  /** Whether there is but the stream of this thread. */
  get isSingle(): boolean {
    return this.byId.size === 1;
  }

  /** Those whose log this thread holds: at the start, all. */
  local(): readonly LocalStream[] {
    return this.all().filter((stream) => stream instanceof LocalStream);
  }

  /** Puts a stream in the place of the one of its id, which its caller has closed. */
  set(stream: LogStream): void {
    this.byId.set(stream.id, stream);
  }

  /** Forgets streams of which nothing is left. */
  forgetGone(): void {
    for (const stream of this.local()) if (stream.isGone) this.byId.delete(stream.id);
  }

  /** Why one of them takes no more writes, or undefined. */
  failure(): string | undefined {
    for (const stream of this.byId.values()) {
      const failure = stream.failure();
      if (failure !== undefined) return failure;
    }
    return undefined;
  }
}
