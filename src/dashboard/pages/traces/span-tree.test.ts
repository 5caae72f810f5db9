/** The order of a waterfall. */
import { expect, test } from "bun:test";
import { type Span, waterfall } from "./span-tree.ts";

function span(id: string, parent: string | undefined, start: number, duration: number): Span {
  return { id, parent, name: id, service: "s", startNanos: BigInt(start), durationNanos: duration, isFailed: false, facts: {} };
}

const order = (spans: readonly Span[]): string =>
  waterfall(spans)
    .lines.map(({ span: { id }, depth }) => `${id}${depth}`)
    .join(" ");

test("parents before children, children by their begin", () => {
  expect(order([span("c", "a", 30, 1), span("b", "a", 20, 5), span("a", undefined, 10, 100), span("d", "b", 21, 1)])).toBe("a0 b1 d2 c1");
});

test("missing parents and circles are roots; each span stands once", () => {
  expect(order([span("x", "gone", 1, 1), span("p", "q", 2, 1), span("q", "p", 3, 1), span("s", "s", 4, 1)])).toBe("x0 s0 p0 q1");
});

test("a chain of 100,000 spans", () => {
  const chain = Array.from({ length: 100_000 }, (_, i) => span(`${i}`, i === 0 ? undefined : `${i - 1}`, i, 1));
  const { lines, totalNanos } = waterfall(chain);
  expect([lines.length, lines.at(-1)?.depth, totalNanos]).toEqual([100_000, 99_999, 100_000]);
});
