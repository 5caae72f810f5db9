import { expect, test } from "bun:test";
import { thrownBy } from "../../../../test/support/failure-of.ts";
import { Handles } from "./handles.ts";

interface Fixture {
  readonly handles: Handles<string>;
  readonly ended: string[];
  now: number;
}

function fixture(limits: { readonly perUserMax?: number; readonly ofAllMax?: number } = {}): Fixture {
  const made: { now: number; ended: string[] } = { now: 0, ended: [] };
  const all = { noun: "thing", perUserMax: 100, ofAllMax: 100, idleMillis: 60_000, ...limits };
  const handles = new Handles<string>(
    all,
    () => made.now,
    (value) => void made.ended.push(value),
  );
  return Object.assign(made, { handles });
}

test("a value is its user's, by a name that cannot be guessed", () => {
  const { handles } = fixture();
  const handle = handles.add("a", "one");
  expect(handles.get("a", handle)).toBe("one");
  expect(handles.find("b", handle)).toBeUndefined();
  expect(handles.close("b", handle)).toBe(false);
  expect(thrownBy(() => handles.get("b", handle)).message).toContain("there is no thing of this handle");
  expect(handles.find("a", handle.subarray(1))).toBeUndefined();
});

test("what nobody used for a time is let go, and given back", () => {
  const made = fixture();
  const [kept, idle] = [made.handles.add("a", "kept"), made.handles.add("a", "idle")];
  made.now = 50_000;
  made.handles.get("a", kept);
  made.now = 70_000;
  expect(made.handles.find("a", idle)).toBeUndefined();
  expect(made.handles.get("a", kept)).toBe("kept");
  expect(made.ended).toEqual(["idle"]);
  made.handles.clear();
  expect(made.ended).toEqual(["idle", "kept"]);
});

test("a user, and all together, keep so many", () => {
  const { handles } = fixture({ perUserMax: 2, ofAllMax: 3 });
  const first = handles.add("a", "1");
  handles.add("a", "2");
  expect(thrownBy(() => handles.add("a", "3")).message).toContain("a user has 2 at most; close some");
  handles.add("b", "4");
  expect(thrownBy(() => handles.add("b", "5")).message).toContain("all users together have 3 at most");
  handles.close("a", first);
  handles.add("b", "6");
  expect(handles.size).toBe(3);
});

test("a name that is given again stands for the newer value", () => {
  const made = fixture();
  const name = new Uint8Array(16).fill(7);
  made.handles.addAs("a", name, "old");
  made.handles.addAs("a", name, "new");
  expect([made.handles.get("a", name), made.ended, made.handles.size]).toEqual(["new", ["old"], 1]);
});

test("what is idle goes though nobody comes for another", async () => {
  const ended = Promise.withResolvers<string>();
  let now = 0;
  const limits = { noun: "thing", perUserMax: 1, ofAllMax: 1, idleMillis: 1 };
  const handles = new Handles<string>(limits, () => now++, ended.resolve);
  handles.add("a", "idle");
  expect(await ended.promise).toBe("idle");
  expect(handles.size).toBe(0);
});
