import { expect, test } from "bun:test";
import { StatusCode } from "../base/status-code.ts";
import { columnNamed, columnNotFound, databaseNotFound, tableNotFound } from "./not-found.ts";

test("errors say which name nothing has", () => {
  expect(databaseNotFound("d")).toMatchObject({ code: StatusCode.DatabaseNotFound, message: "Database not found: d" });
  expect(tableNotFound("d", "t")).toMatchObject({ code: StatusCode.TableNotFound, message: "Table not found: greptime.d.t" });
  expect(columnNotFound("t", "c")).toMatchObject({ code: StatusCode.TableColumnNotFound, message: "Column c not exists in table t" });
});

test("a column is found by its exact name", () => {
  const column = { id: 1 as never, name: "c", type: { kind: "boolean" }, semantic: "field", nullable: true } as const;
  expect(columnNamed({ name: "t", columns: [column] }, "c")).toBe(column);
  expect(() => columnNamed({ name: "t", columns: [column] }, "C")).toThrow("Column C not exists in table t");
});
