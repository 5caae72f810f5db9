import { expect, test } from "bun:test";
import { throwIfCancelled, withDeadline } from "./cancel.ts";
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
