/** Threads of long calls: order, turns, errors, leaving, threads that die, rest. */
import { afterEach, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, INT64, STRING } from "../../column/data-type.ts";
import type { CallJob, CallOwner } from "../expression/long-calls.ts";
import { encodeExpression } from "../expression/expression-shape.ts";
import { functionNamed } from "../function/registry.ts";
import type { Value } from "../function/value/value.ts";
import type { TypedExpression } from "../expression/expression.ts";
import type { FromCallThread, ToCallThread } from "./call-messages.ts";
import { CallThreads, type CallThreadTimes } from "./call-threads.ts";

const environment = { now: 0n, timeZone: "UTC", database: "public" };
const never: CallOwner = { signal: new AbortController().signal, reserve: () => undefined };

let lastId = 0;
function jobOf(name: string, result: DataType, args: readonly Value[]): CallJob {
  const called = functionNamed(name);
  if (called === undefined) throw new Error(`a function; got ${name}`);
  const types = args.map((arg): DataType => (typeof arg === "string" ? STRING : INT64));
  const expression: TypedExpression = {
    kind: "call",
    type: result,
    function: called,
    functionType: { args: types, result },
    args: types.map((type, index): TypedExpression => ({ kind: "column", type, index, name: "c" })),
  };
  const row = args.map((value, index) => [index, value] as const);
  return { expressionId: ++lastId, expression: encodeExpression(expression), row, environment };
}

const replaceJob = (text: string): CallJob => jobOf("replace", STRING, [text, "a", "b"]);
/** Takes seconds: an ordered set of places in which the pattern may go on grows at each letter. */
const SLOW = jobOf("regexp_count", INT64, ["a".repeat(2_000_000), "(a|b|ab|ba)*c(a?){50}"]);

const started: Worker[] = [];
let threads: CallThreads;
/** Turns are long, so that a slow machine starts no second thread. */
const open = (times: CallThreadTimes = {}): CallThreads => {
  threads = new CallThreads(
    () => {
      const worker = new Worker(new URL("./call-worker.ts", import.meta.url).href);
      started.push(worker);
      return worker;
    },
    { turnMillis: 60_000, ...times },
  );
  return threads;
};

afterEach(() => {
  threads.close();
  started.length = 0;
});

test("answers calls in order, with the errors of functions", async () => {
  const calls = open();
  const wrong = calls.call(jobOf("regexp_count", INT64, ["a", "("]), never).catch(String);
  expect(await Promise.all([calls.call(replaceJob("aba"), never), wrong, calls.call(replaceJob("caca"), never)])).toEqual([
    "bbb",
    expect.stringContaining("cannot compile regular expression"),
    "cbcb",
  ]);
  expect(started.length).toBe(1);
});

test("keeps some expressions, of which the rows alone are sent", async () => {
  const calls = open();
  const jobs = Array.from({ length: 40 }, () => replaceJob(""));
  for (const round of ["a", "ca", "aa"]) {
    for (const job of jobs.slice(round === "a" ? 0 : 20)) {
      expect(await calls.call({ ...job, row: [[0, round], ...job.row.slice(1)] }, never)).toBe(round.replaceAll("a", "b"));
    }
  }
});

test("a large value is copied once its memory is counted, and is dropped where there is none", async () => {
  const calls = open();
  const asked: number[] = [];
  const counted: CallOwner = { ...never, reserve: (bytes) => void asked.push(bytes) };
  const full: CallOwner = {
    ...never,
    reserve: () => {
      throw new DbError(StatusCode.RuntimeResourcesExhausted, "no room");
    },
  };
  const refused = calls.call(replaceJob("a".repeat(100_000)), full).catch(String);
  expect(await calls.call(replaceJob("a".repeat(100_000)), counted)).toBe("b".repeat(100_000));
  expect(await refused).toContain("no room");
  expect(asked).toEqual([100_000]);
  expect(started.length).toBe(1);
});

test("a call that is left ends its thread, and those behind it go on in another", async () => {
  const calls = open();
  const controller = new AbortController();
  const owner: CallOwner = { ...never, signal: controller.signal };
  const left = calls.call(SLOW, owner).catch(String);
  const waiting = calls.call(replaceJob("a"), owner).catch(String);
  const behind = calls.call(replaceJob("xa"), never);
  controller.abort(new DbError(StatusCode.DeadlineExceeded, "it ran longer than 1 s"));
  expect(await Promise.all([left, waiting, behind])).toEqual([
    expect.stringContaining("longer than 1 s"),
    expect.stringContaining("longer than 1 s"),
    "xb",
  ]);
  expect(started.length).toBeGreaterThan(1);
  expect(await calls.call(replaceJob("a"), owner).catch(String)).toContain("longer than 1 s");
});

/** A thread on which calls of `replace` end at once, and others when they are told to. */
class HeldWorker extends EventTarget {
  static readonly held = new Map<HeldWorker, () => void>();

  postMessage(message: ToCallThread): void {
    if (message.kind !== "call") return;
    const answer = (): void => {
      const data: FromCallThread = { kind: "value", id: message.id, value: 1 };
      this.dispatchEvent(new MessageEvent("message", { data }));
    };
    if (message.job.row.length === 3) queueMicrotask(answer);
    else HeldWorker.held.set(this, answer);
  }

  terminate(): void {
    HeldWorker.held.delete(this);
  }
}

test("calls that take long stop nobody's short ones: they begin again beside them", async () => {
  threads = new CallThreads(() => new HeldWorker() as unknown as Worker, { turnMillis: 1 });
  const order: string[] = [];
  const noted = async (name: string, job: CallJob): Promise<void> => {
    await threads.call(job, never);
    order.push(name);
  };
  const slow = [noted("slow", SLOW), noted("slow", SLOW)];
  for (let i = 0; i < 20; i++) await noted("short", replaceJob("a"));
  expect(order).toEqual(Array.from({ length: 20 }, () => "short"));
  while (order.length < 22) {
    for (const answer of HeldWorker.held.values()) answer();
    await Bun.sleep(0);
  }
  await Promise.all(slow);
});

test("a thread that dies fails its call alone", async () => {
  const calls = open();
  const running = calls.call(SLOW, never).catch(String);
  const behind = calls.call(replaceJob("ya"), never);
  started[0]?.dispatchEvent(new ErrorEvent("error", { message: "it was told to die" }));
  expect(await running).toContain("the thread that computed a function stopped");
  expect(await behind).toBe("yb");
});

test("calls beyond those that may wait are refused", async () => {
  const calls = open();
  const all = Array.from({ length: 1100 }, () => calls.call(SLOW, never).catch(String));
  expect(await all[1099]).toContain("1024 calls of functions wait");
  calls.close();
  expect(await all[1000]).toContain("closing");
});

test("it ends when it has rested, and when the server does", async () => {
  const calls = open({ restMillis: 1 });
  await calls.call(replaceJob("a"), never);
  while (calls.isStarted) await Bun.sleep(1);
  const running = calls.call(SLOW, never).catch(String);
  calls.close();
  expect(await running).toContain("closing");
  expect(await calls.call(replaceJob("a"), never).catch(String)).toContain("closing");
});
