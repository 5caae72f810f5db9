/** Spans of a trace in the order of a waterfall. */
import type { SqlRow } from "../../api/client.ts";

/** A span as the table of traces has it. */
export interface Span {
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly service: string;
  /** Nanoseconds since 1970. */
  readonly startNanos: bigint;
  readonly durationNanos: number;
  readonly isFailed: boolean;
  /** What else the row has. */
  readonly facts: SqlRow;
}

/** A line of the waterfall. */
export interface SpanLine {
  readonly span: Span;
  readonly depth: number;
  /** From the trace's begin to the span's, in nanoseconds. */
  readonly offsetNanos: number;
}

/**
 * Parents before their children, children by their begin. A span whose parent is not there, or whose parents go in a circle, stands as a
 * root. Linear but for the sort; no recursion, since traces may be deep.
 */
export function waterfall(spans: readonly Span[]): { readonly lines: readonly SpanLine[]; readonly totalNanos: number } {
  const ordered = [...spans].sort((a, b) => (a.startNanos < b.startNanos ? -1 : a.startNanos > b.startNanos ? 1 : 0));
  const begin = ordered[0]?.startNanos ?? 0n;
  const known = new Set(ordered.map(({ id }) => id));
  const children = new Map<string, Span[]>();
  const roots: Span[] = [];
  for (const span of ordered) {
    if (span.parent === undefined || span.parent === span.id || !known.has(span.parent)) roots.push(span);
    else {
      const siblings = children.get(span.parent);
      if (siblings === undefined) children.set(span.parent, [span]);
      else siblings.push(span);
    }
  }
  const lines: SpanLine[] = [];
  const seen = new Set<Span>();
  let totalNanos = 1;
  const walk = (root: Span): void => {
    const stack: { span: Span; depth: number }[] = [{ span: root, depth: 0 }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { span, depth } = next;
      if (seen.has(span)) continue;
      seen.add(span);
      const offsetNanos = Number(span.startNanos - begin);
      totalNanos = Math.max(totalNanos, offsetNanos + span.durationNanos);
      lines.push({ span, depth, offsetNanos });
      for (const child of (children.get(span.id) ?? []).toReversed()) stack.push({ span: child, depth: depth + 1 });
    }
  };
  roots.forEach(walk);
  ordered.forEach((span) => {
    if (!seen.has(span)) walk(span); // Of a circle.
  });
  return { lines, totalNanos };
}
