import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { readCaseFiles } from "../../../test/conformance/case-file.ts";
import { parseSql } from "../../query/sql/parse.ts";
import { treeRows } from "../../query/sql/syntax/row-trees.ts";
import type { Statement } from "../../query/sql/syntax/statement-ast.ts";
import { formattedSql, parsedJson, SYNTAX_CHARACTERS_MAX } from "./syntax-tools.ts";

const work = { scheduler: new Scheduler(), signal: new AbortController().signal };

async function parsed(text: string): Promise<string> {
  let json = "";
  for await (const piece of parsedJson(text, work)) json += piece;
  return json;
}

/** Trees without what says nothing of their meaning: places, whether a name was in quotes, how an interval was written. */
function meaning(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaning);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const node = value as Readonly<Record<string, unknown>>;
  const members = Object.entries(node).filter(([name, member]) => {
    return member !== undefined && !/span$/i.test(name) && name !== "quoted" && !(name === "text" && node["kind"] === "interval");
  });
  const isRows = (name: string): boolean => name === "rows" && (node["kind"] === "values" || node["kind"] === "values-query");
  return Object.fromEntries(
    members.map(([name, member]) => [name, isRows(name) ? [...treeRows(member as never)].map(meaning) : meaning(member)]),
  );
}

const NOWHERE = '{"start":{"line":0,"column":0},"end":{"line":0,"column":0}}';

describe("trees", () => {
  test("of DESCRIBE are as clients compare them", async () => {
    const name = `[{"Identifier":{"value":"t","quote_style":null,"span":${NOWHERE}}}]`;
    expect(await parsed("desc table t")).toBe(`[{"DescribeTable":{"name":${name}}}]`);
  });

  test("are tagged from outside, a list a text", async () => {
    expect(await parsed("")).toBe("[]");
    expect(JSON.parse(await parsed("USE a; KILL '1'"))).toEqual([
      { Use: { database: "a", span: { line: 1, column: 1 } } },
      { Kill: { id: "1", span: { line: 1, column: 8 } } },
    ]);
    const [query] = JSON.parse(await parsed("SELECT CAST(-1 AS BIGINT) AS x FROM t WHERE a = 'b'"));
    expect(query.Query.Select.items[0].Expression).toMatchObject({
      expression: { Cast: { operand: { Unary: { operator: "-", operand: { Number: { text: "1" } } } }, type: "Int64" } },
      alias: "x",
    });
    expect(query.Query.Select.where.Binary).toMatchObject({ operator: "=", left: { Column: { name: ["a"] } } });
    const [insert] = JSON.parse(await parsed("INSERT INTO t VALUES (1, 'x'), (2, NULL)"));
    expect(insert.Insert.source.Values.rows[1]).toMatchObject([{ Number: { text: "2" } }, { Null: {} }]);
  });

  test("hold no secrets", async () => {
    const text = "COPY t TO 's3://b/x' WITH (format = 'csv') CONNECTION (access_key_id = 'id', secret_access_key = 'hush')";
    expect(await parsed(text)).not.toContain("hush");
    expect(await formattedSql(text, work)).not.toContain("hush");
    const failure = parsed("COPY t TO 's3://b/x' CONNECTION (secret_access_key = 'hush' 'hush')").catch((error: unknown) => String(error));
    expect(await failure).not.toContain("hush");
  });
});

describe("a text printed anew", () => {
  test("has a line a statement, without comments", async () => {
    expect(await formattedSql("select 1 as x", work)).toBe("SELECT 1 AS x;");
    expect(await formattedSql("select /* a */ 1 -- b\n; show\ntables ;", work)).toBe("SELECT 1;\nSHOW TABLES;");
    expect(await formattedSql(" ; ", work)).toBe("");
    const text = "with recursive r(n) as (select 1\nunion all select n+1 from r where n<3) select n from r";
    expect(await formattedSql(text, work)).toBe(
      "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r;",
    );
  });

  test("means the same as before, and so do all statements of the cases", async () => {
    let count = 0;
    for (const file of await readCaseFiles(join(import.meta.dir, "../../../test/conformance/cases"))) {
      for (const { sql } of file.cases) {
        const trees = treesOf(sql);
        if (trees === undefined) continue;
        const again = parseSql(await formattedSql(sql, work));
        expect([sql, again.map(meaning)]).toEqual([sql, trees.map(meaning)]);
        count += trees.length;
      }
    }
    expect(count).toBeGreaterThan(100);
  });
});

function treesOf(sql: string): readonly Statement[] | undefined {
  try {
    return parseSql(sql);
  } catch {
    return undefined; // cases of errors are among them
  }
}

test("long texts are refused", async () => {
  const text = `SELECT '${"x".repeat(SYNTAX_CHARACTERS_MAX)}'`;
  const failure = await formattedSql(text, work).catch((error: unknown) => String(error));
  expect(failure).toContain("are the most");
});
