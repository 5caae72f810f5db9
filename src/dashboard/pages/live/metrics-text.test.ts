/** The text format of Prometheus. */
import { expect, test } from "bun:test";
import { MetricsReading } from "./metrics-text.ts";

test("samples with and without labels; escapes; infinities", () => {
  const reading = new MetricsReading('# HELP a b\na 1\na{x="1\\"2",y="\\\\"} 2\nb{le="+Inf"} +Inf\n\nc -Inf\n', 5);
  expect(reading.of("a")).toEqual([
    { labels: {}, value: 1 },
    { labels: { x: '1"2', y: "\\" }, value: 2 },
  ]);
  expect(reading.sum("a")).toBe(3);
  expect(reading.sum("a", ({ x }) => x !== undefined)).toBe(2);
  expect([reading.sum("b"), reading.sum("c"), reading.sum("d")]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0]);
});
