/** What the parser of VRL makes: closures over a context, and what is known of their values before they run. */
import { failure } from "../failure.ts";
import { VRL_STEPS_MAX } from "../limits.ts";
import { kindOf, type PipelineKind, type PipelineValue } from "../../common/value.ts";

/** State of one program on one row. */
export interface Context {
  /** What `.` is. */
  root: PipelineValue;
  /** Whether `root` was read whole, so that it must be copied before it is changed. */
  isRootShared: boolean;
  readonly variables: Map<string, PipelineValue>;
  readonly nowNanos: bigint;
  stepsLeft: number;
  /** `abort` ran: nothing catches that. */
  isAborted: boolean;
}

/** Evaluates. @throws DbError InvalidArguments */
export type Eval = (context: Context) => PipelineValue;

/** Bits of the kinds that a value may have. */
export const Kind = { null: 1, boolean: 2, int: 4, float: 8, string: 16, time: 32, array: 64, object: 128, any: 255 } as const;

/** An expression. */
export interface Node {
  readonly eval: Eval;
  /** Bits of `Kind`. */
  readonly kinds: number;
  /** Present when it is a path, which can be assigned to, deleted and asked for. */
  readonly path?: Path;
}

/** A place in the row or in a variable. */
export interface Path {
  /** Undefined: the row. */
  readonly variable: string | undefined;
  readonly steps: readonly (string | number)[];
}

/** The error of a row. */
export function executeError(why: string): Error {
  return failure(`Failed to execute VRL, ${why}`, why);
}

/** Counts a step. @throws DbError InvalidArguments when there were too many */
export function step(context: Context): void {
  if (--context.stepsLeft >= 0) return;
  context.isAborted = true;
  throw executeError(`the program takes more than ${VRL_STEPS_MAX} steps`);
}

/** The name of a value's kind as VRL says it. */
export function kindName(value: PipelineValue): string {
  const names: Readonly<Record<PipelineKind, string>> = {
    null: "null",
    boolean: "boolean",
    int: "integer",
    float: "float",
    string: "string",
    time: "timestamp",
    array: "array",
    object: "object",
  };
  return names[kindOf(value)];
}
