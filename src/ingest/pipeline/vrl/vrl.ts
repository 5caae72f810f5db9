/** `vrl`: a program in Vector Remap Language, in which `.` is the row. */
import type { Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { VRL_STEPS_MAX } from "../limits.ts";
import type { Processor } from "../processor/processor.ts";
import { type Context, executeError, Kind } from "./node.ts";
import { parseProgram } from "./parser.ts";

/** Compiles a `vrl` processor. @throws DbError InvalidArguments with line and column of the program */
export function vrlProcessor(options: Options): Processor {
  const source = options.text("source");
  if (source === undefined || source.trim() === "") throw options.refused("source", "is required");
  const program = parseProgram(source);
  if ((program.kinds & (Kind.object | Kind.array)) === 0) {
    throw failure("Failed to compile VRL, the program must end in an object or array: usually its last line is `.`");
  }
  return {
    run: (row, { nowNanos }) => {
      const context: Context = {
        root: row,
        isRootShared: false,
        variables: new Map(),
        nowNanos,
        stepsLeft: VRL_STEPS_MAX,
        isAborted: false,
      };
      try {
        return program.eval(context) ?? null;
      } catch (error) {
        if (error instanceof RangeError) throw executeError("a value is nested too deeply"); // the stack is full: some functions recurse
        throw error;
      }
    },
  };
}
