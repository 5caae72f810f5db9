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
  ['a::pg_catalog.text, b::name, c::"char", d::int', "a::text, b::STRING, c::STRING, d::int"],
  ["cast(a as pg_catalog.text)", "cast(a as text)"],
  ["c.oid::regclass", "c.oid"],
  ["c.oid::pg_catalog.regclass::pg_catalog.text", "c.oid::text"],
  ["'public.t'::regclass", "(SELECT min(oid) FROM pg_catalog.pg_class WHERE relname = 't')"],
  ["'\"T x\"'::regclass::oid", "(SELECT min(oid) FROM pg_catalog.pg_class WHERE relname = 'T x')::BIGINT"],
  ["'16385'::pg_catalog.regclass", "16385"],
  ["'int4'::regtype", "(SELECT min(oid) FROM pg_catalog.pg_type WHERE typname = 'int4')"],
  [
    "f(ARRAY(SELECT (a) FROM b), 1)",
    "f((SELECT array_agg(array_items.array_item) FROM (SELECT (a) FROM b) AS array_items(array_item)), 1)",
  ],
  ["f(pg_catalog.to_regtype($1))", "f((SELECT min(oid) FROM pg_catalog.pg_type WHERE typname = $1))"],
  ["to_regclass ('t') = 1", "(SELECT min(oid) FROM pg_catalog.pg_class WHERE relname = 't') = 1"],
  ["CAST(CAST(a.b AS REGCLASS) AS TEXT)", "CAST(CAST(a.b AS BIGINT) AS TEXT)"],
  [
    "select c.oid as oid, cast((a) as oid), cast(a.b as name) as name",
    "select c.oid as oid, cast((a) as BIGINT), cast(a.b as STRING) as name",
  ],
  ["ARRAY[1]", "ARRAY[1]"],
  ["a = '{0}' and b <> '{1,2}' and c = f('{0}')", "a = ARRAY[0] and b <> ARRAY[1,2] and c = f('{0}')"],
  ["'pg_catalog.pg_class'::regclass", "1259"],
];

for (const [text, want] of CASES) test(`rewrites ${text}`, () => expect(rewritePostgres(text)).toBe(want));

test("takes time linear in the text", () => {
  expect(rewritePostgres("a::".repeat(20_000)).length).toBeGreaterThan(1000);
  expect(rewritePostgres("array(select ".repeat(4000)).length).toBeGreaterThan(1000);
  expect(rewritePostgres("operator(".repeat(6000))).toBe("operator(".repeat(6000));
});
