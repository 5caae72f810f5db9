/**
 * What the three OTLP decoders give, and how records that are left out are told.
 */
import type { WriteBatch } from "../../table/write-batch.ts";
import { REASONS_MAX } from "./limits.ts";

/** What a request holds, and what of it cannot be kept. */
export interface OtlpResult {
  /** Borrowed: valid until the next call of the same decoder. */
  readonly batch: WriteBatch;
  /** Rows of the batch. */
  readonly rowCount: number;
  /** Records, spans or points that are not in the batch; none when `count` is 0. */
  readonly rejected: Rejected;
}

/** Records that are left out, with the first reasons; equal ones are counted. */
export class Rejected {
  count = 0;
  private readonly reasons: Map<string, number> = new Map();
  private others = 0;

  /** Counts `count` records. */
  add(reason: string, count = 1): void {
    this.count += count;
    const known = this.reasons.get(reason);
    if (known !== undefined) this.reasons.set(reason, known + 1);
    else if (this.reasons.size < REASONS_MAX) this.reasons.set(reason, 1);
    else this.others++;
  }

  /** All reasons in one line. */
  get message(): string {
    const texts = Array.from(this.reasons, ([reason, times]) => (times === 1 ? reason : `${reason} (x${times})`));
    if (this.others > 0) texts.push(`${this.others} additional failures suppressed`);
    return texts.join("; ");
  }
}
