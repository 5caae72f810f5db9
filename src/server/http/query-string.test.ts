import { expect, test } from "bun:test";
import fc from "fast-check";
import { atOnce } from "../../base/scheduler/pace.ts";
import { repeatedPairs, repeatedPairsInSteps, uniquePairs, uniquePairsInSteps } from "./query-string.ts";

const KNOWN = new Set(["sql", "db"]);

/** The pairs as an object. */
function check(text: string, want: Readonly<Record<string, string>>): void {
  const pairs = uniquePairs(text, KNOWN);
  expect(pairs instanceof Map ? Object.fromEntries(pairs) : pairs, text.slice(0, 80)).toEqual(want);
}

test("known names are decoded, others are left out", () => {
  check("sql=SELECT+1%2B1&x=y&db=a%20b", { sql: "SELECT 1+1", db: "a b" });
  check("s%71l=1", { sql: "1" });
  check("sql=a=b&db", { sql: "a=b", db: "" });
  check("&&sql=1&", { sql: "1" });
  check("sql=100%&db=%zz", { sql: "100%", db: "%zz" });
  check("sql=%ff", { sql: "�" });
  check("", {});
});

test("what URLSearchParams reads is what is read", () => {
  for (const text of ["sql=ü+%C3%BC", "sql=%", "sql=%E2%82", "sql=a%00b", "sql==", "=1&sql=2", "sql=1&SQL=2"]) {
    check(text, Object.fromEntries([...new URLSearchParams(text)].filter(([name]) => KNOWN.has(name))));
  }
});

test("a known name that occurs twice is told, an unknown one may", () => {
  expect(uniquePairs("a=1&a=2&sql=1&db=2&sql=3", KNOWN)).toEqual({ duplicate: "sql" });
  check("a=1&a=2&sql=1", { sql: "1" });
});

test("too many pairs are refused", () => {
  check(`${"a=1&".repeat(999)}sql=1`, { sql: "1" });
  expect(uniquePairs(`${"a=1&".repeat(1000)}sql=1`, KNOWN)).toEqual({ tooMany: 1000 });
});

test("long values are decoded in pieces, which end where characters do", () => {
  for (const part of ["%27", "a%F0%9F%98%80+", "ü%C3%BC%", "%E2%82%AC", "%80", "%", "%4", "x😀"]) {
    for (const shift of ["", "x", "xy", "xyz"]) {
      const text = `sql=${shift}${part.repeat(Math.ceil(2_100_000 / part.length))}&db=1`;
      let steps = 0;
      const reading = uniquePairsInSteps(new TextEncoder().encode(text), KNOWN);
      let read = reading.next();
      for (; read.done !== true; read = reading.next()) steps++;
      expect(steps).toBeGreaterThan(1);
      const pairs = read.value instanceof Map ? read.value : new Map<string, string>();
      expect(pairs.get("sql") === new URLSearchParams(text).get("sql"), `${shift}${part}`).toBe(true);
      expect(pairs.get("db")).toBe("1");
    }
  }
  check(`${"%41".repeat(1000)}=1&sql=2`, { sql: "2" });
});

test("repeated names keep all values, and a query as a text reads as one of bytes does", () => {
  expect(repeatedPairs("sql=1&x=2&s%71l=a%2Bb+c&db", KNOWN)).toEqual(
    new Map([
      ["sql", ["1", "a+b c"]],
      ["db", [""]],
    ]),
  );
  const many = "a=1&".repeat(1000);
  const parts = ["sql", "db", "=", "&", "%41", "%", "+", "ü", "%C3%BC", "%ff", "x", "\ud800", "s%71l=", `${"%41".repeat(100)}=1`];
  const texts = fc.array(fc.constantFrom(...parts), { maxLength: 20 }).map((some) => some.join(""));
  const isSame = (text: string): void => {
    const ofBytes = atOnce(repeatedPairsInSteps(new TextEncoder().encode(text), KNOWN));
    expect(repeatedPairs(text, KNOWN)).toEqual(ofBytes);
  };
  for (const text of ["", `${many}sql=1`, `${many.slice(4)}sql=1`]) isSame(text);
  fc.assert(fc.property(texts, isSame), { seed: 3, numRuns: 500 });
});
