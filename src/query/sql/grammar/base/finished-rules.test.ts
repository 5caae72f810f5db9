/** The grammar stops anywhere and goes on, and gives the trees and errors that it gives at once. */
import { expect, test } from "bun:test";
import { errorText } from "../../../../base/error.ts";
import { newMarks } from "./finished-rules.ts";
import { tokenize } from "../../tokens/lexer.ts";
import { parsed, parsedInSteps } from "../../parse.ts";

/** What a text gives when the grammar stops after each so many parts, and how often it stopped. */
function inSteps(text: string, partsAtOnce: number): { readonly outcome: unknown; readonly stops: number } {
  const marks = newMarks();
  let stops = 0;
  try {
    const steps = parsedInSteps(text, tokenize(text).tokens, marks, partsAtOnce);
    for (let step = steps.next(); ; step = steps.next(), stops++) {
      if (step.done === true) return { outcome: { statements: step.value, parameterCount: marks.parameterCount }, stops };
    }
  } catch (thrown) {
    return { outcome: errorText(thrown), stops };
  }
}

function check(text: string): void {
  let want: unknown;
  try {
    want = parsed(text);
  } catch (thrown) {
    want = errorText(thrown);
  }
  for (const partsAtOnce of [1, 2, 3, 7, 50]) expect([text, inSteps(text, partsAtOnce).outcome]).toEqual([text, want]);
  if (typeof want === "object") expect(inSteps(text, 1).stops, text).toBeGreaterThan(0);
}

test("queries", () => {
  check(
    "SELECT a, b + 1 AS c, sum(d) FILTER (WHERE e > ?), t.*, * FROM t JOIN u USING (x, y) WHERE NOT a IN (1, b, ?) OR c BETWEEN 1 AND 2",
  );
  check("SELECT (SELECT t.* FROM t), u.* EXCLUDE (a) FROM u");
  check("WITH a (x) AS (SELECT 1), b AS (SELECT x FROM a UNION ALL SELECT 2) SELECT * FROM a, b ORDER BY 1 DESC, x + 1 LIMIT 3 OFFSET 1");
  check(
    "SELECT rank() OVER (PARTITION BY a, b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), CASE a WHEN 1 THEN 'x' ELSE y END FROM t",
  );
  check("SELECT a FROM t GROUP BY ROLLUP (a, b), CUBE (c), GROUPING SETS ((a), ()) HAVING count(*) > 1 QUALIFY row_number() OVER () = 1");
  check("SELECT avg(x) RANGE '5m' FILL PREV FROM t ALIGN '1h' BY (a, b) FILL NULL");
  check("SELECT [1, a, [2]], {'k': v}, MAP {'a': 1}, x[1], x[2:3], a::int[], CAST(b AS decimal(3, 1)), -a, a IS NOT NULL");
  check("VALUES (1, a), (2, b + 1) INTERSECT SELECT * FROM (VALUES (3, 4)) AS v (a, b)");
  check(`SELECT ${Array.from({ length: 70 }, (_, i) => `a = ${i}`).join(" AND ")}`);
});

test("other statements", () => {
  check(
    "INSERT INTO t (a, b) VALUES (1, DEFAULT), (-2, 'x' || ?); UPDATE t SET a = DEFAULT, b = b + 1 WHERE c = 1; DELETE FROM t WHERE a = 1",
  );
  check("CREATE TABLE t (a STRING NOT NULL DEFAULT 'x', ts TIMESTAMP TIME INDEX, PRIMARY KEY (a)) WITH (ttl = '7d')");
  check("ALTER TABLE t ADD COLUMN a INT, ADD COLUMN b STRING; COPY (SELECT a FROM t) TO 'f' WITH (format = 'csv'); EXPLAIN SELECT 1 + 1");
  check("TQL EVAL (0, 10, '5s') sum by (host) (rate(cpu[5m])) AS busy; CREATE VIEW v AS SELECT a, b FROM t");
});

test("errors are the same", () => {
  check("SELECT a, b FROM FROM");
  check("SELECT a, b, c + (b * (c + ), d FROM t");
  check("SELECT a, b, c, ?, $1");
  check(`SELECT ${"(".repeat(510)}1${")".repeat(510)}`);
  check("SELECT a FROM t WHERE a COLLATE nosuch = 1");
});
