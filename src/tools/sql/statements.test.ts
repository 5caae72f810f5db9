import { expect, test } from "bun:test";
import fc from "fast-check";
import { cutStatements, hasCode, lastStatement } from "./statements.ts";

function check(text: string, statements: readonly (readonly [line: number, text: string])[], last?: string): void {
  const cut = cutStatements(text);
  expect(cut.statements.map((statement) => [statement.line, statement.text] as const)).toEqual([...statements]);
  expect(lastStatement(cut)?.text).toBe(last);
}

test("statements end at a semicolon and know their line", () => {
  check(
    "select 1;\n\n select\n2 ;select 3",
    [
      [1, "select 1"],
      [3, "select\n2"],
    ],
    "select 3",
  );
  check(";; ;", []);
  check("", []);
});

test("semicolons inside of strings, names and comments end nothing", () => {
  check("select ';''; ' ; x", [[1, "select ';''; '"]], "x");
  check('select ";", `;`;', [[1, 'select ";", `;`']]);
  check("select E'\\';';", [[1, "select E'\\';'"]]);
  check("select $$;$$, $a$;$$;$a$;", [[1, "select $$;$$, $a$;$$;$a$"]]);
  check("-- a; b\nselect 1 /* ; */;", [[1, "-- a; b\nselect 1 /* ; */"]]);
  check("-- only; a comment", []);
});

test("what is not closed waits", () => {
  for (const open of ["select 'a;", 'select "a;', "/* a;", "select $$;"]) expect(cutStatements(open).statements).toEqual([]);
  expect(hasCode("/* a */ -- b\n")).toBe(false);
});

test("cutting anywhere gives the same statements", () => {
  const part = fc.constantFrom("select 1", ";", "'a;b'", "\n", "--c;\n", '"n;"', "/*;*/", " ", "$$;$$");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      const whole = cutStatements(text).statements.map((statement) => statement.text);
      let buffer = "";
      const grown: string[] = [];
      for (const piece of parts) {
        const cut = cutStatements(buffer + piece);
        grown.push(...cut.statements.map((statement) => statement.text));
        buffer = cut.rest;
      }
      expect(grown).toEqual(whole);
    }),
    { seed: 7, numRuns: 300 },
  );
});
