/** A conditional log in memory, which loses answers, delays entries and fails as a test says. */
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { type ConditionalLog, type LogEntry, LogWentBack } from "../../src/storage/meta-store/conditional-log.ts";

/**
 * What becomes of an entry: "taken" at once or a turn "later"; with its "answer lost"; "lost" itself; or "delayed": it is lost for who sent
 * it, and comes when `deliver` is called.
 */
export type EntryFate = "taken" | "later" | "answer lost" | "lost" | "delayed";

/** See the file header. */
export class MemoryConditionalLog implements ConditionalLog {
  entries: LogEntry[] = [];
  /** What happens to the next entries, in order; after them "taken". */
  fates: EntryFate[] = [];
  /** While it is set, nothing is answered before it resolves. */
  held: Promise<unknown> | undefined;
  private newest = 0;
  private delayed: (() => void)[] = [];

  async append(text: string, last: number): Promise<number | "refused"> {
    const fate = this.fates.shift() ?? "taken";
    await this.held;
    if (fate === "later") await new Promise<void>((resolve) => setImmediate(resolve));
    if (fate === "delayed") this.delayed.push(() => void this.take(text, last));
    if (fate === "delayed" || fate === "lost") throw unreachable();
    const answer = this.take(text, last);
    if (fate === "answer lost") throw unreachable();
    return answer;
  }

  async read(number: number): Promise<readonly LogEntry[]> {
    if (number > this.newest) throw new LogWentBack(`the last entry is ${this.newest}, and ${number} was there`);
    return this.entries.filter((entry) => entry.number > number);
  }

  /** As servers that come back with an old disk. */
  goBack(number: number): void {
    this.entries = this.entries.filter((entry) => entry.number <= number);
    this.newest = this.entries.at(-1)?.number ?? 0;
  }

  trim(number: number): void {
    this.entries = this.entries.filter((entry) => entry.number >= number);
  }

  /** Entries that were delayed come now, if they are not refused. */
  deliver(): void {
    for (const come of this.delayed.splice(0)) come();
  }

  private take(text: string, last: number): number | "refused" {
    if (last !== this.newest) return "refused";
    this.newest += 3; // Others' entries lie between in a log that several stores share.
    this.entries.push({ number: this.newest, text });
    return this.newest;
  }
}

function unreachable(): DbError {
  return new DbError(StatusCode.StorageUnavailable, "no answer from the log");
}
