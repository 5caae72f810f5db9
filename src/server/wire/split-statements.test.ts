import { expect, test } from "bun:test";
import { atOnce } from "../../base/scheduler/pace.ts";
import { firstWords, splitStatements } from "./split-statements.ts";

const split = (text: string): string[] => atOnce(splitStatements(text)).map(({ start, end }) => text.slice(start, end));

const CASES: readonly (readonly [text: string, statements: readonly string[]])[] = [
  ["", []],
  [" ; ;\n", []],
  ["-- nothing", []],
  ["/* nothing; at all */ ;", []],
  ["select 1", ["select 1"]],
  ["select 1; select 2;", ["select 1", "select 2"]],
  ["select ';'; select 2", ["select ';'", "select 2"]],
  ["select 'it''s;'; select 2", ["select 'it''s;'", "select 2"]],
  ["select E'\\';'; select 2", ["select E'\\';'", "select 2"]],
  ["select a_e'\\'; select 2", ["select a_e'\\'", "select 2"]],
  ['select ";" from `;`; b', ['select ";" from `;`', "b"]],
  ["a -- ;\n; b /* ; */; c", ["a -- ;\n", "b /* ; */", "c"]],
  ["select $$;$$, $x$;$$;$x$; b", ["select $$;$$, $x$;$$;$x$", "b"]],
  ["select $1; select $2", ["select $1", "select $2"]],
  ["select a$b; c", ["select a$b", "c"]],
  ["select 'open; b", ["select 'open; b"]],
  ["select /* open; b", ["select /* open; b"]],
  ["select 4 - 3 / 2; b", ["select 4 - 3 / 2", "b"]],
];

for (const [text, statements] of CASES) test(`splits ${JSON.stringify(text)}`, () => expect(split(text)).toEqual([...statements]));

test("gives first words without comments", () => {
  expect(firstWords("/* a */ begin -- b\n work; x", 3)).toEqual(["BEGIN", "WORK"]);
  expect(firstWords("(select 1)", 2)).toEqual([]);
  expect(firstWords("start transaction read only", 2)).toEqual(["START", "TRANSACTION"]);
});

test("takes time linear in the text", () => {
  const text = `insert into t values ${"('a;b', 'it''s', 1),".repeat(50_000)}`;
  expect(split(text)).toHaveLength(1);
  expect(split("e'".repeat(200_000))).toHaveLength(1);
});
