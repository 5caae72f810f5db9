import { expect, test } from "bun:test";
import { collectBeside } from "./collect-beside.ts";

const OBJECTS = 1_000_000;
const WATCHED_EVERY = 10_000;

const held: { objects: readonly object[] } = { objects: [] };

/** Objects that a collection of young ones looks at no more, and weak references to some of them. */
function holdOldObjects(): readonly WeakRef<object>[] {
  held.objects = Array.from({ length: OBJECTS }, (_, i) => ({ a: i, b: { c: i } }));
  Bun.gc(true);
  return held.objects.filter((_, i) => i % WATCHED_EVERY === 0).map((object) => new WeakRef(object));
}

/** So that nothing of what calls before left on the stack is there. */
function overwriteStack(depth: number): number {
  return depth === 0 ? 0 : 1 + overwriteStack(depth - 1);
}

test("old garbage is gone", async () => {
  const watched = holdOldObjects();
  await Bun.sleep(1);
  held.objects = [];
  overwriteStack(1000);
  await collectBeside();
  // The heap's size says nothing: it counts memory of buffers of the tests before as well.
  const alive = watched.filter((reference) => reference.deref() !== undefined).length;
  expect(alive).toBeLessThan(watched.length / 10);
});
