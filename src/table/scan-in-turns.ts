/**
 * Scans whose conditions on tags take long: a regular expression over a million host names. Storage finds the series that meet them before
 * the first batch, in one go. Here that is left when others of the thread should have a turn, and begun anew with the answers known so far:
 *
 *   scan ─► test, test, … due ─► turn ─► scan ─► known, known, … test, test, … due ─► turn ─► …
 *
 * Most scans end within the first stretch, and nothing is kept for them.
 */
import type { Pace } from "../base/scheduler/pace.ts";
import type { Table } from "./catalog.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TagPredicate } from "./scan.ts";

/** Tests of a stretch at least, so that each comes further than the one before. */
const TESTS_MIN = 64;
/** Bytes of a known answer beside its text, nearly. */
const ANSWER_BYTES = 64;

/** Who scans. */
interface Scanning {
  readonly pace: Pick<Pace, "isDue" | "turn">;
  /** Counts memory before it is taken. @throws DbError RuntimeResourcesExhausted */
  readonly reserve: (bytes: number) => void;
  readonly release: (bytes: number) => void;
}

/** What a test throws that leaves the scan. */
const TURN_WANTED = new Error("BUG: a scan that was left for a turn is not begun anew");

/** The batches of a scan. @throws DbError those of `scan`, and of memory */
export function scanInTurns(
  table: Pick<Table, "scan">,
  request: ScanRequest,
  work: Scanning,
  metrics?: ScanMetrics,
): AsyncIterable<ScanBatch> {
  const hasTests = request.tagPredicates.some(({ kind }) => kind === "test");
  return hasTests ? scanTested(table, request, work, metrics) : table.scan(request, metrics);
}

async function* scanTested(
  table: Pick<Table, "scan">,
  request: ScanRequest,
  work: Scanning,
  metrics: ScanMetrics | undefined,
): AsyncGenerator<ScanBatch> {
  const tests = new PacedTests(work);
  const paced = { ...request, tagPredicates: request.tagPredicates.map((predicate) => tests.of(predicate)) };
  try {
    for (;;) {
      try {
        for await (const batch of table.scan(paced, metrics)) {
          tests.isOver = true;
          yield batch;
        }
        return;
      } catch (error) {
        if (error !== TURN_WANTED) throw error;
      }
      tests.begin();
      await work.pace.turn();
    }
  } finally {
    tests.close();
  }
}

/** Tests of a scan, and what they answered. */
class PacedTests {
  /** Once there are batches nothing can be left any more. */
  isOver = false;
  private isKeeping = false;
  private done = 0;
  private held = 0;
  private readonly work: Scanning;

  constructor(work: Scanning) {
    this.work = work;
  }

  /** The next stretch. */
  begin(): void {
    this.isKeeping = true;
    this.done = 0;
  }

  close(): void {
    this.work.release(this.held);
    this.held = 0;
  }

  of(predicate: TagPredicate): TagPredicate {
    if (predicate.kind !== "test") return predicate;
    const { test } = predicate;
    const answers = new Map<string | undefined, boolean>();
    return {
      ...predicate,
      test: (value) => {
        const known = answers.get(value);
        if (known !== undefined) return known;
        if (!this.isOver && this.done >= TESTS_MIN && this.work.pace.isDue()) throw TURN_WANTED;
        this.done++;
        const answer = test(value);
        if (this.isKeeping) {
          const bytes = ANSWER_BYTES + 2 * (value?.length ?? 0);
          this.work.reserve(bytes);
          this.held += bytes;
          answers.set(value, answer);
        }
        return answer;
      },
    };
  }
}
