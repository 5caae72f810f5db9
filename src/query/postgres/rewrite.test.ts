import { expect, test } from "bun:test";
import { rewritePostgres } from "./rewrite.ts";

const CASES: readonly (readonly [text: string, want: string])[] = [
  ["select 1", "select 1"],
  ["select 'a::regclass' , \"x::oid\" -- ::oid", "select 'a::regclass' , \"x::oid\" -- ::oid"],
  ["select pg_catalog.version()", "select version()"],
  ["select * from pg_catalog.pg_class", "select * from pg_catalog.pg_class"],
  ["where a OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default", "where a ~ '^(t)$' "],
  ["where a operator ( pg_catalog . !~ ) 'x'", "where a !~  'x'"],
  ['order by a COLLATE "C"', "order by a "],
  ["order by a collate nocase", "order by a collate nocase"],
  [
    "f(ARRAY(SELECT (a) FROM b), 1)",
    "f(coalesce((SELECT array_agg(array_items.array_item) FROM (SELECT (a) FROM b) AS array_items(array_item)), make_array()), 1)",
  ],
  ["ARRAY[1]", "ARRAY[1]"],
  ["a = ANY ('{int,int8}' :: regtype [])", "a = ANY (ARRAY['int'::regtype,'int8'::regtype])"],
  ["a = ANY ('{int}'::text[])", "a = ANY ('{int}'::text[])"],
  ["not exists ( SELECT FROM t) and (select from t)", "not exists ( SELECT 1 FROM t) and (select from t)"],
  ["a = '{0}' and b <> '{1,2}' and c = f('{0}')", "a = ARRAY[0] and b <> ARRAY[1,2] and c = f('{0}')"],
];

for (const [text, want] of CASES) test(`rewrites ${text}`, () => expect(rewritePostgres(text)).toBe(want));

test("takes time linear in the text", () => {
  expect(rewritePostgres("array(select ".repeat(4000)).length).toBeGreaterThan(1000);
  expect(rewritePostgres("exists (select from ".repeat(3000)).length).toBeGreaterThan(1000);
  expect(rewritePostgres("operator(".repeat(6000))).toBe("operator(".repeat(6000));
});
