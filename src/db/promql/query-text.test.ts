import { expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { atOnce } from "../../base/scheduler/pace.ts";
import { StatusCode } from "../../base/status-code.ts";
import { formattedQuery, queryTreeJson } from "./query-text.ts";

test("a query is printed, and its tree is JSON", () => {
  expect(atOnce(formattedQuery("sum(a)by(b)"))).toBe("sum by (b) (a)");
  expect(atOnce(queryTreeJson("1"))).toBe('{"type":"numberLiteral","val":"1"}');
});

test("what is no query is an error of its syntax", () => {
  for (const steps of [formattedQuery("1 +"), queryTreeJson("1 +")]) {
    let error: unknown;
    try {
      atOnce(steps);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(DbError);
    expect(error).toMatchObject({ code: StatusCode.InvalidSyntax, message: "1:4: parse error: unexpected end of input" });
  }
});
