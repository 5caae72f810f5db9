import { expect, test } from "bun:test";
import { cancelledWith, soonerOf, throwIfCancelled, withDeadline } from "./cancel.ts";
import { DbError } from "../error.ts";
import { StatusCode } from "../status-code.ts";

const codeOf = (signal: AbortSignal): StatusCode | undefined => {
  try {
    throwIfCancelled(signal);
    return undefined;
  } catch (error) {
    return error instanceof DbError ? error.code : StatusCode.Unknown;
  }
};

test("work goes on while its signal is quiet", () => {
  expect(codeOf(new AbortController().signal)).toBeUndefined();
  expect(() => throwIfCancelled(undefined)).not.toThrow();
});

test("a client that leaves cancels", () => {
  const client = new AbortController();
  const { signal, done } = withDeadline(client.signal, 60_000);
  client.abort();
  expect(codeOf(signal)).toBe(StatusCode.Cancelled);
  done();
});

test("a deadline that passes says so", async () => {
  const { signal } = withDeadline(new AbortController().signal, 1);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  expect(codeOf(signal)).toBe(StatusCode.DeadlineExceeded);
});

test("no deadline leaves the signal as it is", () => {
  const { signal } = new AbortController();
  expect(withDeadline(signal, 0).signal).toBe(signal);
});

test("what is done no longer follows its parent", () => {
  const client = new AbortController();
  const { controller, done } = cancelledWith(client.signal, { millis: 60_000, key: "k" });
  done();
  client.abort();
  expect(controller.signal.aborted).toBe(false);
});

test("a parent that has fired, and its reason, are followed at once", () => {
  const parent = AbortSignal.abort(new DbError(StatusCode.DeadlineExceeded, "too late"));
  expect(codeOf(cancelledWith(parent, { millis: 0, key: "k" }).controller.signal)).toBe(StatusCode.DeadlineExceeded);
});

test("a deadline beyond what timers take does not fire at once", async () => {
  const { controller, done } = cancelledWith(new AbortController().signal, { millis: 2 ** 40, key: "k" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(controller.signal.aborted).toBe(false);
  done();
});

test("the sooner of two deadlines counts, and 0 is none", () => {
  const check = (a: number, b: number, want: string): void => {
    expect(soonerOf({ millis: a, key: "a" }, { millis: b, key: "b" }).key).toBe(want);
  };
  check(1, 2, "a");
  check(2, 1, "b");
  check(0, 2, "b");
  check(2, 0, "a");
});
