/**
 * The follower's rule: which records of an ordered log count, though records may be missing from it, be late, or be there twice.
 *
 * | record against what is known of its writer | verdict                  | what of it counts                                           |
 * |--------------------------------------------|--------------------------|-------------------------------------------------------------|
 * | older segment                              | older                    | nothing: its writer gave the segment up and sent it again   |
 * | number > known + 1                         | gap                      | nothing: one before it failed, and its writer sends both    |
 * |                                            |                          | again in a new segment                                      |
 * | number ≤ known                             | definitions              | its series definitions, which later records of its segment  |
 * |                                            |                          | rely on; its rows counted before                            |
 * | number = known + 1                         | rows                     | all                                                         |
 *
 * A record that counts and is of a newer segment `begins` it: what earlier ones defined means nothing any more. Of a writer that is not
 * known, number 0 of segment 0 is known, so it begins with its record 1.
 *
 * What a writer has to do for it, or rows go missing; each is a line of `test/support/lossy-lane.ts`, whose absence the property fails on:
 *
 * - After an append that failed, or whose answer did not come, it begins a new segment and sends everything again that it has not
 *   acknowledged, in order, each under the number that it had.
 * - What it sends again goes one at a time, each once the one before is answered. Else a late record of the segment before may stand in for
 *   one that was lost, and the next counts without the definitions that the lost one had. Records that each have a segment of their own and
 *   define all that they use may go together, if the log takes all of them or none (`cluster/lanes`).
 * - It acknowledges in order, by answers of its present segment alone, and only if the log has each record behind the one before.
 * - Within a segment a number of a series or tag value means one thing.
 *
 * Then each row counts once, none that was acknowledged is missing, and whatever a record relies on was defined.
 *
 * A log that has lost what it had acknowledged is the one exception: writers send again what they hold, and say from which number on
 * (`resume`), or a hole before it would keep all that follows from counting.
 *
 * Memory is bounded: beyond `LOG_WRITERS_MAX` the writer is forgotten whose last record lies furthest back in the log. That follows from
 * the log alone, not from a clock, so whoever follows it from a saved state forgets the same ones. A writer that was silent for long must
 * therefore go on as a new one: its old number would pass for one behind a gap for ever.
 */
import { corrupted, type DbError } from "../../base/error.ts";
import { LOG_WRITERS_MAX } from "../../base/limits.ts";
import { type WriterId, writerId } from "../../base/units.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import type { MetaValue } from "../../storage/meta-store/meta-store.ts";

/** What of a record counts; `begins`: what its writer has defined before counts no more. */
export type Verdict =
  | { readonly kind: "rows"; readonly begins: boolean }
  | { readonly kind: "definitions"; readonly begins: boolean }
  | { readonly kind: "gap" }
  | { readonly kind: "older" };

/** State as JSON: writer, number and segment of each, the one that is forgotten first at the front. */
export type SavedWriters = readonly (readonly [writer: number, number: number, segment: number])[];

interface Known {
  readonly number: number;
  readonly segment: number;
}

const NOBODY: Known = { number: 0, segment: 0 };

/** See the file header. Invariant: in the order in which they were last heard of. */
export class Writers {
  private readonly known: Map<WriterId, Known> = new Map();
  private readonly max: number;
  private readonly onForgotten: (writer: WriterId) => void;

  /** @param onForgotten is told of each writer that is forgotten: its definitions may go as well */
  constructor(onForgotten: (writer: WriterId) => void = () => undefined, max: number = LOG_WRITERS_MAX) {
    this.onForgotten = onForgotten;
    this.max = max;
  }

  /** How many writers are known. */
  get count(): number {
    return this.known.size;
  }

  /** Says what of the log's next record counts, and takes note of it. */
  take(origin: RecordOrigin): Verdict {
    const { writer, number, segment } = origin;
    const known = this.known.get(writer);
    const verdict = verdictOf(origin, known ?? NOBODY);
    const counts = verdict.kind === "rows" || verdict.kind === "definitions";
    if (counts) this.put(writer, { number: Math.max(number, known?.number ?? 0), segment });
    else if (known !== undefined) this.put(writer, known); // Its writer is there, whatever becomes of this record.
    return verdict;
  }

  /**
   * Takes a record behind a gap, for a log in which nothing is sent again: what is missing stays so. Returns whether it begins a segment;
   * if not, definitions that it relies on may be missing as well.
   */
  leap({ writer, number, segment }: RecordOrigin): boolean {
    const begins = segment > (this.known.get(writer) ?? NOBODY).segment;
    this.put(writer, { number, segment });
    return begins;
  }

  /**
   * Takes note that records of a writer below `number` come no more, and that those that do are of segments above `segment`. Returns how
   * many are missing for good.
   */
  resume({ writer, number, segment }: Pick<RecordOrigin, "writer" | "number" | "segment">): number {
    const known = this.known.get(writer) ?? NOBODY;
    const missing = Math.max(0, number - 1 - known.number);
    if (number > 1) this.put(writer, { number: known.number + missing, segment: Math.max(known.segment, segment) });
    return missing;
  }

  /** What `restored` needs to go on from here. */
  saved(): SavedWriters {
    return Array.from(this.known, ([writer, { number, segment }]) => [writer, number, segment] as const);
  }

  /** Goes on from a state that was saved. @throws DbError StorageUnavailable when it is none; `where` says where it comes from */
  static restored(saved: MetaValue, where: string, onForgotten?: (writer: WriterId) => void, max?: number): Writers {
    const writers = new Writers(onForgotten, max);
    if (!isList(saved)) throw broken(where);
    for (const one of saved) {
      const [writer, number, segment, ...more] = isList(one) ? one : [];
      if (!isCount(writer) || !isCount(number) || !isCount(segment) || more.length > 0) throw broken(where);
      writers.put(writerId(writer), { number, segment });
    }
    return writers;
  }

  /** Puts a writer where it is forgotten last. */
  private put(writer: WriterId, known: Known): void {
    this.known.delete(writer);
    this.known.set(writer, known);
    if (this.known.size <= this.max) return;
    for (const [silent] of this.known) {
      this.known.delete(silent);
      return this.onForgotten(silent);
    }
  }
}

function verdictOf({ number, segment }: RecordOrigin, known: Known): Verdict {
  if (segment < known.segment) return { kind: "older" };
  if (number > known.number + 1) return { kind: "gap" };
  return { kind: number === known.number + 1 ? "rows" : "definitions", begins: segment > known.segment };
}

function isList(value: MetaValue): value is readonly MetaValue[] {
  return Array.isArray(value);
}

function isCount(value: MetaValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function broken(where: string): DbError {
  return corrupted(`cannot go on with the log of ${where}: what it says of the log's writers is broken`, {
    file: where,
    offset: undefined,
    kind: "structure",
  });
}
