/**
 * The follower's rule (`writers.ts`) over a log on a local disk. It gives each record once and in order, and trims what is in files, so:
 *
 * | what the rule says | what it means here                                        | what of the record counts           |
 * |--------------------|-----------------------------------------------------------|-------------------------------------|
 * | rows               | the usual case                                            | all                                 |
 * | gap, new segment   | records before it were trimmed, were damaged, or failed   | all: a segment says everything anew |
 * |                    | and were never acknowledged                               |                                     |
 * | gap, same segment  | the record before it was damaged and skipped              | all whose series are still defined  |
 * | definitions, older | the log was put together by hand: rows would count twice  | as the rule says                    |
 *
 * Nothing is ever sent again here, so a gap stays one. What was lost with it the log itself says (`WalRecoveryReport`).
 */
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import { type Verdict, Writers } from "./writers.ts";

/** What of a record of a local log counts. */
export type LocalVerdict = Exclude<Verdict, { readonly kind: "gap" }>;

/** See the file header. One a log that is followed from its oldest record on. */
export class LocalWriters {
  private readonly writers: Writers = new Writers();

  /** Says what of the log's next record counts, and takes note of it. */
  take(origin: RecordOrigin): LocalVerdict {
    const verdict = this.writers.take(origin);
    return verdict.kind === "gap" ? { kind: "rows", begins: this.writers.leap(origin) } : verdict;
  }
}
