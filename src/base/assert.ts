/**
 * Stops on a broken invariant: a bug of ours, never bad input from outside (that is a `DbError`).
 *
 * @param condition what must hold
 * @param what a sentence of the form "what; got x; want y"
 */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new AssertionError(what);
}

/** A broken invariant. Servers let it stop the process, since state can no longer be trusted. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** What the operator is told of a bug: where it was met. */
export function bugText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Marks a branch that the type checker proved empty; a new kind of a union breaks the build here. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`);
}
