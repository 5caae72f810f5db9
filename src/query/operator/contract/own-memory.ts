/** What operators hold, counted and given back in one place, however they end: at their end, by an error, or left by their reader. */
import type { ExecBatch, ExecContext } from "./exec-context.ts";

/** Runs an operator that holds rows: its context has a budget of its own, named so in errors, which is closed when it ends. */
export async function* withOwnMemory(
  name: string,
  context: ExecContext,
  work: (own: ExecContext) => AsyncIterable<ExecBatch>,
): AsyncGenerator<ExecBatch> {
  const budget = context.budget.part(name);
  try {
    yield* work({ ...context, budget });
  } finally {
    budget.close();
  }
}
