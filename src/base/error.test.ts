import { expect, test } from "bun:test";
import { corrupted, corruptionOf, DbError, ERROR_CHARACTERS_MAX, errorText, restated, toDbError } from "./error.ts";
import { StatusCode } from "./status-code.ts";
import { errorOfTold, toldError } from "./told-error.ts";

test("a message that quotes megabytes is cut, whoever made it", () => {
  const long = "9".repeat(1_000_000);
  for (const { message } of [new DbError(StatusCode.InvalidSyntax, `found '${long}'`), toDbError(new Error(long))]) {
    expect(message.length).toBe(ERROR_CHARACTERS_MAX);
    expect(message.endsWith("9…")).toBe(true);
  }
  expect(new DbError(StatusCode.InvalidSyntax, "short").message).toBe("short");
});

test("bytes that are not what was written say their file, their place and how", () => {
  const corruption = { file: "tables/1/2.parquet", offset: 512, kind: "checksum" } as const;
  const cause = new Error("a page");
  const error = corrupted("cannot read it", corruption, cause);
  expect([error.code, error.cause, corruptionOf(error)]).toEqual([StatusCode.StorageUnavailable, cause, corruption]);
  expect(corruptionOf(new DbError(StatusCode.StorageUnavailable, "the disk is full"))).toBeUndefined();
  expect(corruptionOf(new Error("other"))).toBeUndefined();
});

test("a failure in other words keeps its code, when to come back and the bytes, and not the words it had", () => {
  const corruption = { file: "f", offset: undefined, kind: "missing" } as const;
  const error = new DbError(StatusCode.RateLimited, "slow down", { retryAfterSeconds: 2, details: { corruption, reason: "down" } });
  const again = restated(error, "cannot write: slow down");
  expect([again.code, again.message, again.retryAfterSeconds, again.cause]).toEqual([error.code, "cannot write: slow down", 2, error]);
  expect(again.details).toEqual({ corruption });
});

test("an error passes between threads with all that is typed, a bug with its stack", () => {
  const corruption = { file: "f", offset: 3, kind: "length" } as const;
  const error = new DbError(StatusCode.StorageUnavailable, "cannot read", { retryAfterSeconds: 5, details: { corruption } });
  const told = errorOfTold(structuredClone(toldError(error)));
  expect([told.code, told.message, told.retryAfterSeconds, told.details, told.cause]).toEqual([
    error.code,
    "cannot read",
    5,
    { corruption },
    undefined,
  ]);
  const bug = errorOfTold(structuredClone(toldError(new TypeError("no such thing"))));
  expect([bug.code, bug.message]).toEqual([StatusCode.Internal, "no such thing"]);
  expect(bug.cause).toHaveProperty("stack", expect.stringContaining("error.test.ts"));
});

test("what is thrown is shown as far as it is asked for", () => {
  expect([errorText(new Error("abcdef"), 3), errorText("abc"), errorText(undefined)]).toEqual(["abc", "abc", "undefined"]);
});
