/** What the evaluation of expressions goes by: a part of what operators share while a query runs. */
import type { MemoryBudget } from "../../base/memory/memory-budget.ts";
import type { PacedWork } from "../../base/scheduler/pace.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { LongCalls } from "./long-calls.ts";

/** See the file header. */
export interface EvaluationContext extends PacedWork {
  readonly environment: Environment;
  readonly budget: MemoryBudget;
  /** True: no generated code runs. */
  readonly interpretOnly: boolean;
  /** Takes the source of each generated loop, for EXPLAIN VERBOSE. */
  readonly onSource: ((name: string, source: string) => void) | undefined;
  /** Where calls run that take long on one row; undefined: here. */
  readonly calls?: LongCalls | undefined;
}
