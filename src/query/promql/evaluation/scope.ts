/**
 * What every part of evaluation shares: the moments of an expression, series with a value a step, and the query that they belong to.
 */
import { DbError } from "../../../base/error.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Expression, VectorSelector } from "../syntax/ast.ts";
import { bytesOfHistograms } from "./histogram/bytes.ts";
import type { SelectionCache } from "./selection-cache.ts";
import type { Annotations, EvaluationRun, Labels, NativeHistogram, QueryTimes, SeriesSource } from "./series-source.ts";

/** Most series, and most steps of all of them, that go from one part of a query to the next at once. */
const SERIES_TOGETHER = 16;
const STEPS_TOGETHER = 16_384;

/** `count` moments; milliseconds. A step of 0 is one moment `count` times: that of `@`. */
export interface Moments {
  readonly startMillis: number;
  readonly stepMillis: number;
  readonly count: number;
}

/**
 * A series of an instant vector at every step. Whoever gets it owns its arrays; `present` is 1 where there is a value or a histogram.
 * Histograms themselves are shared and never changed.
 */
export interface StepSeries {
  readonly labels: Labels;
  /** Its name goes when the query ends, and counts until then. */
  readonly dropsName: boolean;
  readonly values: Float64Array;
  readonly present: Uint8Array;
  /** What stands instead of the value, by step; counts where `present` is 1 alone. Undefined: the series has none. */
  histograms: StepHistograms;
}

/** The series of an instant vector, some at a time: waiting for each costs as much as its rate. */
export type StepVector = AsyncIterable<readonly StepSeries[]>;

/** What makes them. */
export type StepVectorMaker = AsyncGenerator<readonly StepSeries[], void, void>;

/** What a series has at its steps. */
export type Steps = Pick<StepSeries, "values" | "present" | "histograms">;

/** See `StepSeries`. */
export type StepHistograms = (NativeHistogram | undefined)[] | undefined;

/** Arrays of steps that are used again. */
export interface Spare {
  /** Empty steps, owned by the caller. */
  take(count: number): Steps;
  /** Takes arrays that nobody looks at any more. @param most that are kept, uncounted */
  give(steps: Steps, most: number): void;
}

/** A query that is being evaluated. */
export interface QueryScope {
  readonly times: QueryTimes;
  readonly source: SeriesSource;
  readonly run: EvaluationRun;
  readonly annotations: Annotations;
  /** What the tree was parsed from, for places in annotations; undefined: a query of one line. */
  readonly text: string | undefined;
  readonly selections: SelectionCache;
  readonly spare: Spare;
  /** Selectors whose histograms are asked for counts and sums alone. */
  readonly ofStatistics: ReadonlySet<VectorSelector>;
  /** Evaluates an instant vector. */
  readonly vector: (node: Expression, scope: Scope) => StepVector;
  /** Evaluates a scalar: a number a step, which the caller owns. */
  readonly scalar: (node: Expression, scope: Scope) => Promise<Float64Array>;
}

/** A query and the moments at which a part of it is evaluated: those of the query, or of a sub-query. */
export interface Scope {
  readonly query: QueryScope;
  readonly moments: Moments;
}

/** A query that cannot be evaluated, in Prometheus' words where it has some. */
export function evaluationError(message: string): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, message);
}

/** Bytes of a series with so many steps, its labels roughly. */
export function seriesBytes(steps: number): number {
  return steps * 9 + 256;
}

/** How many series of so many steps go together, at most. They are not counted: 150 KB. */
export function togetherMax(steps: number): number {
  return Math.max(1, Math.min(SERIES_TOGETHER, Math.floor(STEPS_TOGETHER / steps)));
}

/** Series that are there, some at a time. */
export function* together(all: Iterable<StepSeries>, { moments }: Scope): Generator<readonly StepSeries[], void, void> {
  const most = togetherMax(moments.count);
  let some: StepSeries[] = [];
  for (const one of all) {
    some.push(one);
    if (some.length < most) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** Without the parentheses around it. */
export function unwrapped(node: Expression): Expression {
  let inner = node;
  while (inner.kind === "ParenExpression") inner = inner.expression;
  return inner;
}

/** Between two stretches of work: others have a turn when it is time. @throws DbError when nobody waits for the query any more */
export async function takeTurn({ run }: QueryScope): Promise<void> {
  await run.pace.turn();
  checkCancelled(run);
}

/** Whether `takeTurn` is due: it is dear for short work. */
export function isTurnDue({ run }: QueryScope): boolean {
  return run.signal.aborted || run.pace.isDue();
}

/** The text of an argument that is a string. */
export function stringOf(node: Expression | undefined): string {
  const inner = node === undefined ? undefined : unwrapped(node);
  return inner?.kind === "StringLiteral" ? inner.value : "";
}

/** Whatever a vector has, at once, counted. Give the bytes back with `release`. */
export async function collected(vector: StepVector, scope: Scope): Promise<{ all: StepSeries[]; release: () => void }> {
  const { run } = scope.query;
  const all: StepSeries[] = [];
  let bytes = 0;
  for await (const some of vector) {
    for (const one of some) {
      const own = seriesBytes(scope.moments.count) + bytesOfHistograms(one.histograms);
      run.reserve(own);
      bytes += own;
      all.push(one);
    }
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  return { all, release: () => run.release(bytes) };
}
