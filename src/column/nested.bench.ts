/** How fast lists become bytes and parts again: `bun src/column/nested.bench.ts`. */
import { bench, do_not_optimize as keep, run, summary } from "mitata";
import { FLOAT64, INT64, type NestedType, STRING } from "./data-type.ts";
import { decodeNested, encodeNested, type NestedPart } from "./nested.ts";

const COUNT = 10_000;
const CASES: readonly (readonly [string, NestedType, (i: number) => NestedPart])[] = [
  ["whole numbers", { kind: "list", element: INT64 }, (i) => i * 1_000_003],
  ["floats", { kind: "list", element: FLOAT64 }, (i) => i / 3],
  ["texts of 8", { kind: "list", element: STRING }, (i) => String(i).padStart(8, "x")],
];

summary(() => {
  for (const [name, type, value] of CASES) {
    const parts = Array.from({ length: COUNT }, (_, i) => value(i));
    const bytes = encodeNested(type, parts);
    bench(`encode ${COUNT} ${name}`, () => keep(encodeNested(type, parts)));
    bench(`decode ${COUNT} ${name}`, () => keep(decodeNested(type, bytes)));
  }
});

await run();
