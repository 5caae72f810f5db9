import { expect, test } from "bun:test";
import { DbError, ERROR_CHARACTERS_MAX, toDbError } from "./error.ts";
import { StatusCode } from "./status-code.ts";

test("a message that quotes megabytes is cut, whoever made it", () => {
  const long = "9".repeat(1_000_000);
  for (const { message } of [new DbError(StatusCode.InvalidSyntax, `found '${long}'`), toDbError(new Error(long))]) {
    expect(message.length).toBe(ERROR_CHARACTERS_MAX);
    expect(message.endsWith("9…")).toBe(true);
  }
  expect(new DbError(StatusCode.InvalidSyntax, "short").message).toBe("short");
});
