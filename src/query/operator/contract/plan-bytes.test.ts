/** Plans as bytes: every kind of operator comes back as it was; bytes that are no plan of this server's tables are refused. */
import { beforeAll, describe, expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { INT64 } from "../../../column/data-type.ts";
import { thrownBy } from "../../../../test/support/failure-of.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { physicalText } from "../../plan/explain-text.ts";
import { tableOf } from "../../plan/row-sources.ts";
import type { Query } from "../../sql/syntax/ast.ts";
import { parseSql } from "../../sql/parse.ts";
import type { PlanNames } from "../../plan-format/plan-reader.ts";
import { PLAN_DEPTH_MAX } from "../../plan-format/tags.ts";
import { prepareSelect } from "../../statement/shared/select.ts";
import { run } from "../run.ts";
import { ONE_ROW } from "../source/node.ts";
import { inputsOf, type PlanNode } from "./node.ts";
import { decodePlan, encodePlan } from "./plan-bytes.ts";

let data: QueryFixture;
let names: PlanNames;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(`CREATE TABLE m (host STRING, zone STRING, a BIGINT, x DOUBLE, ok BOOLEAN, s STRING, ts TIMESTAMP(3) TIME INDEX,
    PRIMARY KEY (host, zone))`);
  const rows = Array.from(
    { length: 60 },
    (_, i) => `('h${i % 3}', 'z${i % 2}', ${i * 7}, ${i / 4}, ${i % 2 === 0}, 't${i}', ${i * 60_000})`,
  );
  await data.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
  names = { table: (identity) => tableOf(data.catalog, identity) };
});

async function planOf(sql: string): Promise<PlanNode> {
  const [query] = parseSql(sql);
  return (await prepareSelect(query as Query, data.context, {})).plan;
}

/** Queries that have each kind of operator, each source, key, call and condition between them. */
const QUERIES: readonly string[] = [
  "SELECT 1, NULL, 1.5, -0.0, 'NaN'::DOUBLE, X'00ff', INTERVAL '1 month 2 days 3 seconds', [1, NULL, 3]",
  "SELECT 99999999999999999999999999999999999999::DECIMAL(38, 0), 9007199254740993, 18446744073709551615, '2024-01-01'::DATE",
  "SELECT * FROM m WHERE host = 'h1' AND zone LIKE 'z%' AND upper(host) > 'A' AND ts >= 60000 AND a > 5 AND s LIKE 't1%' AND x IN (1, 2)",
  "SELECT * FROM m WHERE zone IS NULL OR zone IN ('z1', 'z0') ORDER BY ts DESC LIMIT 3",
  "SELECT host, date_trunc('hour', ts), max(a), avg(x), count(*) FILTER (WHERE ok), array_agg(s ORDER BY a DESC) FROM m GROUP BY 1, 2",
  "SELECT date_trunc('month', ts), last_value(a ORDER BY ts) FROM m GROUP BY 1 ORDER BY 1 DESC LIMIT 2",
  "SELECT host, zone, sum(a) FROM m GROUP BY ROLLUP (host, zone)",
  "SELECT ts, host, max(a) RANGE '5m' FILL PREV, min(x) RANGE '10m' FILL 7 FROM m ALIGN '5m' BY (host)",
  "SELECT ts, max(a) RANGE '1m' FILL LINEAR FROM m ALIGN '30s'",
  "SELECT l.a, r.x FROM m l JOIN m r ON l.host = r.host AND l.a < r.a LEFT JOIN m z ON z.a = r.a",
  "SELECT l.a, r.a FROM m l ASOF JOIN m r ON l.host = r.host AND l.ts >= r.ts",
  "SELECT a FROM m WHERE a IN (SELECT a FROM m WHERE ok) OR a > ALL (SELECT x FROM m r WHERE r.ts < m.ts)",
  "SELECT l.a, r.u FROM m l, LATERAL (SELECT a + l.a AS u FROM m WHERE m.host = l.host ORDER BY a LIMIT 1) r",
  "SELECT (SELECT max(a) FROM m r WHERE r.host = m.host), EXISTS (SELECT 1 FROM m r WHERE r.a = m.a + 1) FROM m",
  `SELECT rank() OVER w, lag(a, 2, 0) OVER w, sum(a) OVER (PARTITION BY host ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW),
    nth_value(a, 2) OVER w, sum(x) OVER (ORDER BY a RANGE BETWEEN 3 PRECEDING AND 1 FOLLOWING), ntile(3) OVER w,
    anomaly_score_zscore(x) OVER w FROM m WINDOW w AS (PARTITION BY zone ORDER BY ts)`,
  "SELECT DISTINCT ON (host) host, a FROM m ORDER BY host, a DESC",
  "SELECT a FROM m INTERSECT ALL SELECT a FROM m EXCEPT SELECT 7",
  "SELECT a FROM m UNION ALL SELECT x FROM m UNION SELECT number FROM numbers LIMIT 500",
  "WITH RECURSIVE t (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t",
  "SELECT * FROM generate_series(1, 9, 2) a, range('2024-01-31'::timestamp, '2024-06-30'::timestamp, INTERVAL '1 month') b",
  "SELECT unnest([a, a + 1]), host FROM m",
  "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
  "VALUES (1, 'a', NULL, 1.5), (2, NULL, true, 9007199254740993)",
  "SELECT * FROM (VALUES (now(), random() > 2)) v",
  "SELECT named_struct('a', a, 'b', host)['b'], CASE WHEN a > 3 THEN s ELSE NULL END, try_cast(s AS INT), NOT ok, x IS NOT NULL FROM m",
  "WITH t AS (SELECT * FROM m WHERE a > 1) SELECT * FROM t x JOIN t y ON x.a = y.a",
  "SELECT a FROM m WHERE s NOT IN (SELECT s FROM m WHERE ok)",
];

/** Every kind that there is: a line is missing, or too much, when it does not build. */
const KINDS: Readonly<Record<PlanNode["kind"], true>> = {
  scan: true,
  source: true,
  recursive: true,
  filter: true,
  "key-share": true,
  project: true,
  overlap: true,
  "fill-slots": true,
  aggregate: true,
  "grouping-sets": true,
  sort: true,
  limit: true,
  join: true,
  asof: true,
  "lateral-join": true,
  apply: true,
  window: true,
  unnest: true,
  "if-empty": true,
  "first-of-each": true,
  union: true,
  "set-filter": true,
  "newest-first": true,
};

function kindsIn(node: PlanNode, into: Set<string>): Set<string> {
  into.add(node.kind);
  for (const input of inputsOf(node)) kindsIn(input, into);
  return into;
}

describe("a plan comes back as it was", () => {
  for (const sql of QUERIES) {
    test(sql, async () => {
      const plan = await planOf(sql);
      const bytes = encodePlan(plan);
      const read = decodePlan(bytes, names);
      expect(read).toEqual(plan);
      expect(physicalText(read)).toBe(physicalText(plan));
      expect(Buffer.from(encodePlan(read)).equals(bytes)).toBe(true);
      if (!sql.includes("random")) await data.both(sql);
    });
  }

  test("of every kind", async () => {
    const seen = new Set<string>();
    for (const sql of QUERIES) kindsIn(await planOf(sql), seen);
    seen.add("key-share"); // Made where a plan runs: `../key-share/key-share.test.ts`.
    expect([...seen].sort()).toEqual(Object.keys(KINDS).sort());
  });

  test("what is read in several places is one again", async () => {
    const [first, second] = inputsOf(decodePlan(encodePlan(await planOf("VALUES (random()), (random())")), names));
    if (first?.kind !== "project" || second?.kind !== "project") throw new Error("a row is a projection");
    expect(first).not.toBe(second);
    expect(first.input).toBe(second.input);
  });
});

test.each([1, 2])("plans that were written by version %d are read, and give the same rows", async (version) => {
  const lines = (await Bun.file(new URL(`./testing/plans-v${version}.hex`, import.meta.url)).text()).trim().split("\n");
  // Each version has queries that the one before could not tell.
  expect(lines).toHaveLength(QUERIES.length - (version === 1 ? 1 : 0));
  for (const [i, line] of lines.entries()) {
    const sql = QUERIES[i] ?? "";
    const read = decodePlan(Uint8Array.fromHex(line), names);
    const { exec } = await prepareSelect(parseSql(sql)[0] as Query, data.context, {});
    let rows = 0;
    for await (const batch of run(read, exec)) rows += batch.rowCount;
    const wanted = await data.sql(sql);
    const columns = read.columns.map(({ name }) => name);
    expect({ sql, columns, rows }).toEqual({ sql, columns: [...wanted.columns], rows: wanted.rows.length });
  }
});

describe("a plan whose tables are others now", () => {
  const made = "CREATE TABLE gone (a BIGINT, ts TIMESTAMP TIME INDEX)";
  test("is refused", async () => {
    await data.sql(made);
    const bytes = encodePlan(await planOf("SELECT a FROM gone"));
    await data.sql("DROP TABLE gone");
    expect(thrownBy(() => decodePlan(bytes, names)).code).toBe(StatusCode.TableNotFound);
    await data.sql(made);
    const error = thrownBy(() => decodePlan(bytes, names));
    expect([error.code, error.message]).toEqual([
      StatusCode.RequestOutdated,
      "cannot read table gone: it was made anew since the statement began; run it again",
    ]);
  });
});

describe("an operator whose fields are well-formed and do not go together", () => {
  const columns = [{ name: "a", type: INT64 }];
  const a: TypedExpression = { kind: "column", type: INT64, index: 0, name: "a" };
  const wrongs: readonly (readonly [PlanNode, string])[] = [
    [{ kind: "filter", input: ONE_ROW, columns: [], predicate: a }, "filter: column 0 is read, and there are 0"],
    [{ kind: "project", input: ONE_ROW, columns, expressions: [] }, "project: 0 expressions make 1 columns"],
    [{ kind: "union", inputs: [ONE_ROW], columns }, "union: its inputs have other columns"],
    [
      { kind: "aggregate", input: ONE_ROW, columns, keys: [], aggregates: [], table: undefined },
      "its columns are not its keys and aggregates",
    ],
    [{ ...ONE_ROW, columns, source: { kind: "values", rowCount: 2, vectors: [] } }, "source: 0 columns are given, and 1 are named"],
    [
      {
        ...ONE_ROW,
        columns,
        source: { kind: "values", rowCount: 2, vectors: [{ kind: "number", values: Int8Array.of(1), validity: undefined }] },
      },
      "source: a column is not of its type, or lacks rows",
    ],
  ];
  for (const [node, why] of wrongs) {
    test(why, () => {
      const error = thrownBy(() => decodePlan(encodePlan(node), names));
      expect(error.code).toBe(StatusCode.InvalidArguments);
      expect(error.message).toContain(why);
    });
  }
});

test("bytes that were made to deceive give an error of the world, or a plan", async () => {
  let state = 4711;
  const random = (): number => (state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff);
  for (const sql of QUERIES) {
    const bytes = encodePlan(await planOf(sql));
    for (let round = 0; round < 400; round++) {
      const damaged = bytes.slice();
      for (let i = 0; i < 1 + (round % 3); i++) damaged[3 + (random() % (bytes.length - 7))] = random() >> 8;
      new DataView(damaged.buffer).setUint32(damaged.length - 4, crc32(damaged.subarray(0, -4)), true);
      try {
        decodePlan(damaged, names);
      } catch (error) {
        if (!(error instanceof DbError)) throw error;
      }
    }
  }
});

describe("a plan that is too deep is refused where it is written, and one as deep as may be is read on any thread", () => {
  const type = { kind: "boolean" } as const;
  const not = (operand: TypedExpression): TypedExpression => ({ kind: "not", type, operand });
  const leaf = { kind: "literal", type, value: true } as const;
  const choice = (result: TypedExpression): TypedExpression => ({
    kind: "case",
    type,
    branches: [{ when: leaf, result }],
    otherwise: leaf,
  });
  const nested = (levels: number, wrap: (inner: TypedExpression) => TypedExpression): PlanNode => {
    let predicate: TypedExpression = leaf;
    for (let i = 0; i < levels; i++) predicate = wrap(predicate);
    return { kind: "filter", input: ONE_ROW, columns: [], predicate };
  };
  const applied = (levels: number): PlanNode => {
    let plan: PlanNode = ONE_ROW;
    const columns = [{ name: "c", type }];
    for (let i = 0; i < levels; i++) {
      plan = { kind: "apply", input: ONE_ROW, columns, calls: [{ plan, parameters: [], result: { kind: "exists" }, type }] };
    }
    return plan;
  };
  const plans: readonly (readonly [string, (levels: number) => PlanNode])[] = [
    ["expressions", (levels) => nested(levels, not)],
    ["choices", (levels) => nested(levels, choice)],
    ["sub-queries", applied],
  ];
  for (const [name, planOfDepth] of plans) {
    test(name, async () => {
      expect(thrownBy(() => encodePlan(planOfDepth(PLAN_DEPTH_MAX + 1))).message).toContain(`nests deeper than ${PLAN_DEPTH_MAX} levels`);
      const plan = planOfDepth(PLAN_DEPTH_MAX - 10);
      const bytes = encodePlan(plan);
      expect(decodePlan(bytes, names).kind).toBe(plan.kind);
      const worker = new Worker(new URL("./testing/reads-plan.ts", import.meta.url).href);
      const answer = await new Promise((resolve, reject) => {
        worker.onmessage = ({ data: kind }) => resolve(kind);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(bytes);
      });
      worker.terminate();
      expect(answer).toBe(plan.kind);
    });
  }
});
