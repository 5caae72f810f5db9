import { expect, test } from "bun:test";
import { partsOf, uncountedBytes } from "./memory-parts.ts";

const METRICS = `# TYPE varve_memory_bytes gauge
varve_memory_bytes{part="memtables"} 12
varve_memory_bytes{part="page_cache"} 1.5e+3
varve_memory_limit_bytes 99
`;

test("parts are read from the metrics, and nothing else is", () => {
  expect([...partsOf(METRICS)]).toEqual([
    ["memtables", 12],
    ["page_cache", 1500],
  ]);
  expect([...partsOf("")]).toEqual([]);
});

test("what no part counts is the rest", () => {
  expect(uncountedBytes({ rssBytes: 2000, parts: partsOf(METRICS) })).toBe(488);
});
