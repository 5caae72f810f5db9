import { heapSize } from "bun:jsc";
import { expect, test } from "bun:test";
import { collectBeside } from "./collect-beside.ts";

const MIB = 1024 * 1024;

const held: { objects: readonly object[] } = { objects: [] };

/** Objects that a collection of young ones looks at no more. */
function holdOldObjects(): void {
  held.objects = Array.from({ length: 1_000_000 }, (_, i) => ({ a: i, b: { c: i } }));
  Bun.gc(true);
}

/** So that nothing of what calls before left on the stack is there. */
function overwriteStack(depth: number): number {
  return depth === 0 ? 0 : 1 + overwriteStack(depth - 1);
}

test("old garbage is gone", async () => {
  holdOldObjects();
  await Bun.sleep(1);
  const before = heapSize();
  held.objects = [];
  overwriteStack(1000);
  await collectBeside();
  expect(before - heapSize()).toBeGreaterThan(30 * MIB);
});
