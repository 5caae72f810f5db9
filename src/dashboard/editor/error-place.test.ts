/** Where errors of the server point. */
import { expect, test } from "bun:test";
import { placeOf } from "./error-place.ts";

const marked = (problem: string, text: string): string | undefined => {
  const place = placeOf(problem, text);
  return place === undefined ? undefined : text.slice(place.from, place.to);
};

test("line and column of SQL, to the end of the word", () => {
  expect(marked("Invalid SQL syntax: found 'from', expected an expression at Line: 1, Column: 12", "select 1 + from x")).toBe("from");
  expect(marked("… at Line: 2, Column: 3", "a\nb ccc")).toBe("ccc");
});

test("line and column of PromQL; an end that came too early is its last letter", () => {
  expect(marked("1:7: parse error: unclosed left parenthesis", "rate(x")).toBe("x");
  expect(marked('invalid parameter "query": 1:5: parse error: unexpected', "sum by foo")).toBe("by");
});

test("a name that the error says", () => {
  expect(marked("Failed to plan SQL: No field named foo. Valid fields are numbers.number.", "select foo from numbers")).toBe("foo");
});

test("nothing where nothing is said", () => {
  expect(marked("out of memory", "select 1")).toBeUndefined();
});

test("a part of the text that was sent alone is moved to where it stands", () => {
  expect(placeOf("… at Line: 1, Column: 1", "selec", 10)).toMatchObject({ from: 10, to: 15 });
});
