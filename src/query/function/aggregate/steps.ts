/** Work that may be done in steps, with other tasks in between, done at once. */

/** The result of all steps. */
export function ended<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}
