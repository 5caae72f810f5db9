/** The thread of long calls: order, errors, leaving, a thread that dies, rest. */
import { afterEach, expect, test } from "bun:test";
import { INT64, STRING } from "../../column/data-type.ts";
import type { CallJob } from "../exec/long-calls.ts";
import { CallThread } from "./call-thread.ts";

const environment = { now: 0n, timeZone: "UTC", database: "public" };
const never = new AbortController().signal;
const replaceJob = (text: string): CallJob => ({
  name: "replace",
  type: { args: [STRING, STRING, STRING], result: STRING },
  args: [text, "a", "b"],
  environment,
});
/** Takes seconds. */
const SLOW: CallJob = {
  name: "levenshtein",
  type: { args: [STRING, STRING], result: INT64 },
  args: ["a".repeat(4000), "b".repeat(4000)],
  environment,
};

const started: Worker[] = [];
let thread: CallThread;
const open = (restMillis?: number): CallThread => {
  thread = new CallThread(() => {
    const worker = new Worker(new URL("./call-worker.ts", import.meta.url).href);
    started.push(worker);
    return worker;
  }, restMillis);
  return thread;
};

afterEach(() => {
  thread.close();
  started.length = 0;
});

test("answers calls in order, with the errors of functions", async () => {
  const calls = open();
  const wrong = calls.call({ ...replaceJob(""), name: "regexp_count", args: ["a", "("] }, never).catch(String);
  expect(await Promise.all([calls.call(replaceJob("aba"), never), wrong, calls.call(replaceJob("caca"), never)])).toEqual([
    "bbb",
    expect.stringContaining("cannot compile regular expression"),
    "cbcb",
  ]);
  expect(started.length).toBe(1);
});

test("a call that is left ends its thread, and those behind it go on in another", async () => {
  const calls = open();
  const controller = new AbortController();
  const left = calls.call(SLOW, controller.signal).catch(String);
  const waiting = calls.call(replaceJob("a"), controller.signal).catch(String);
  const behind = calls.call(replaceJob("xa"), never);
  controller.abort();
  expect(await Promise.all([left, waiting, behind])).toEqual([
    expect.stringContaining("cancelled"),
    expect.stringContaining("cancelled"),
    "xb",
  ]);
  expect(started.length).toBeGreaterThan(1);
});

test("a thread that dies fails its call alone", async () => {
  const calls = open();
  const running = calls.call(SLOW, never).catch(String);
  const behind = calls.call(replaceJob("ya"), never);
  started[0]?.dispatchEvent(new ErrorEvent("error", { message: "it was told to die" }));
  expect(await running).toContain("the thread that computed a function stopped");
  expect(await behind).toBe("yb");
});

test("it ends when it has rested, and when the server does", async () => {
  const calls = open(1);
  await calls.call(replaceJob("a"), never);
  while (calls.isStarted) await Bun.sleep(1);
  const running = calls.call(SLOW, never).catch(String);
  calls.close();
  expect(await running).toContain("closing");
  expect(await calls.call(replaceJob("a"), never).catch(String)).toContain("closing");
});
