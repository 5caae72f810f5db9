import { expect, test } from "bun:test";
import { DbError, publicMessageOf, toDbError } from "./error.ts";
import { httpStatusOf, StatusCode, statusNameOf } from "./status-code.ts";

test.each([
  [StatusCode.InvalidSyntax, 400, "InvalidSyntax"],
  [StatusCode.DatabaseNotFound, 400, "DatabaseNotFound"],
  [StatusCode.UserPasswordMismatch, 401, "UserPasswordMismatch"],
  [StatusCode.PermissionDenied, 403, "PermissionDenied"],
  [StatusCode.RateLimited, 429, "RateLimited"],
  [StatusCode.Internal, 500, "Internal"],
  [StatusCode.StorageUnavailable, 503, "StorageUnavailable"],
  [StatusCode.Cancelled, 504, "Cancelled"],
] as const)("%d answers HTTP %d as %s", (code, status, name) => {
  expect(httpStatusOf(code)).toBe(status);
  expect(statusNameOf(code)).toBe(name);
});

test("every code has a name and an HTTP status", () => {
  for (const code of Object.values(StatusCode)) {
    expect(httpStatusOf(code)).toBeGreaterThanOrEqual(200);
    expect(StatusCode[statusNameOf(code)]).toBe(code);
  }
});

test("internal texts stay inside, others are shown", () => {
  expect(publicMessageOf(toDbError(new Error("secret path")))).toBe("Internal error: 1003");
  expect(publicMessageOf(new DbError(StatusCode.TableNotFound, "Table not found: t"))).toBe("Table not found: t");
});

test("a thrown value that is no error becomes an internal one", () => {
  expect(toDbError("odd").message).toBe("odd");
  const known = new DbError(StatusCode.Cancelled, "gone");
  expect(toDbError(known)).toBe(known);
});
