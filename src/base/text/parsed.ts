/** Outcome of reading a text where failure is ordinary: the value, or why there is none (a phrase that fits after a colon). */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** A value that was read. */
export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** A refusal; `reason` says what is wrong and, where it helps, what to write instead. Never quotes secrets. */
export function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
