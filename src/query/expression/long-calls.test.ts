/** What takes long on one row: it runs elsewhere, and gives the same wherever it stands in a statement. */
import { errorOfTold } from "../../base/told-error.ts";
import { beforeEach, describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { rowsHere } from "../../../test/support/cluster/rows-here.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import type { Value } from "../function/value/value.ts";
import { CallServer } from "../workers/serve-calls.ts";
import type { CallJob, CallOwner, LongCalls } from "./long-calls.ts";
import { decodeExpression } from "./expression-shape.ts";

function nameOf(bytes: Uint8Array): string {
  const expression = decodeExpression(bytes);
  return expression.kind === "call" ? expression.function.name : expression.kind;
}

/** Runs calls a round later, as a thread does, and notes what they are. */
class NotedCalls implements LongCalls {
  readonly names: string[] = [];
  readonly allowance: number;
  private readonly server = new CallServer();
  private lastId = 0;

  constructor(allowance = 32_768) {
    this.allowance = allowance;
  }

  async call(given: CallJob, { reserve }: CallOwner): Promise<Value> {
    this.names.push(nameOf(given.expression));
    await Bun.sleep(0);
    const { expression, ...job } = structuredClone(given);
    const id = ++this.lastId;
    let answer = this.server.answer({ kind: "call", id, job, expression });
    if (answer?.kind === "computed") {
      reserve(answer.bytes);
      answer = this.server.answer({ kind: "take", id });
    }
    if (answer?.kind === "failed") throw errorOfTold(answer.error);
    if (answer?.kind !== "value") throw new Error("a value");
    return structuredClone(answer.value);
  }
}

let fixture: QueryFixture;
let calls: NotedCalls;
beforeEach(() => {
  fixture = new QueryFixture();
  calls = new NotedCalls();
});

const rowsOf = async (text: string): Promise<unknown> => (await fixture.sql(text, { calls })).rows;
const failureOf = (text: string): Promise<string> => rowsOf(text).then(() => "no error", String);

describe("a long call", () => {
  test("of constants is made once for all rows with all that is in it, and is no constant of the plan", async () => {
    const text = "SELECT number + array_length(array_intersect(range(30000), range(10000, 50000))) AS n FROM numbers LIMIT 40";
    expect(await rowsOf(text)).toEqual(Array.from({ length: 40 }, (_, i) => [20_000 + i]));
    expect(calls.names).toEqual(["array_length"]);
  });

  test("of each row is made for each, in lists and conditions", async () => {
    expect(
      await rowsOf("SELECT max(n) FROM (SELECT length(replace(repeat('a', number + 40000), 'a', 'bc')) AS n FROM numbers LIMIT 5) AS r"),
    ).toEqual([[80_008]]);
    expect(calls.names.length).toBe(5);
    expect(await rowsOf("SELECT number FROM numbers WHERE regexp_count(repeat('ab', number + 20000), 'ab') = 20003")).toEqual([[3]]);
    expect(await rowsOf("SELECT count(*) FROM unnest(range(100000)) AS u")).toEqual([[100_000]]);
  });

  test("fails as it would here, and only where its row needs it", async () => {
    const many = "repeat('[', 40000)";
    expect(await rowsOf(`SELECT CASE WHEN number = 1000 THEN json_to_string(parse_json(${many})) END AS j FROM numbers LIMIT 1`)).toEqual([
      [undefined],
    ]);
    expect(await failureOf(`SELECT json_to_string(parse_json(${many})) FROM numbers LIMIT 1`)).toContain("cannot parse");
  });

  test("that is short runs here", async () => {
    expect(await rowsOf("SELECT array_length(array_intersect(range(100), range(50, 150))), upper('x')")).toEqual([[50, "X"]]);
    expect(await rowsOf("SELECT length(upper(concat('x', repeat('y', number + 100000)))) FROM numbers LIMIT 1")).toEqual([[100_001]]);
    expect(calls.names).toEqual([]);
  });

  test("may be many short ones: what they take on one row adds up", async () => {
    const sum = Array.from({ length: 40 }, (_, i) => `length(replace(repeat('a', number + ${2000 + i}), 'a', 'b'))`).join(" + ");
    expect(await rowsOf(`SELECT ${sum} AS n FROM numbers LIMIT 1`)).toEqual([[40 * 2000 + (39 * 40) / 2]]);
    expect(calls.names.length).toBeGreaterThan(0);
  });

  test("goes in its operands where they are too many to be sent, or cannot be told by name", async () => {
    const parts = Array.from({ length: 1500 }, (_, i) => `cast(number + ${i} AS string)`).join(", ");
    const text = `SELECT length(concat(${parts}, replace(repeat('a', number + 40000), 'a', 'b'))) AS n FROM numbers LIMIT 1`;
    const digits = Array.from({ length: 1500 }, (_, i) => String(i).length).reduce((a, b) => a + b);
    expect(await rowsOf(text)).toEqual([[40_000 + digits]]);
    expect(calls.names).toEqual(["replace"]);
    const struct = "named_struct('s', replace(repeat('a', number + 40000), 'a', 'b'))";
    expect(await rowsOf(`SELECT length(${struct}['s']) AS n FROM numbers LIMIT 1`)).toEqual([[40_000]]);
  });

  test("is left when the statement is over", async () => {
    const controller = new AbortController();
    const leaving = new QueryFixture(controller.signal);
    const never: LongCalls = {
      call: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new DbError(StatusCode.Cancelled, "Query has been cancelled")));
          setImmediate(() => controller.abort());
        }),
    };
    expect(
      await leaving.sql("SELECT replace(repeat('a', number + 40000), 'a', 'b') FROM numbers", { calls: never }).then(() => "ran", String),
    ).toContain("cancelled");
  });

  test("counts what it reads and gives as the query's memory", async () => {
    const options = { calls, memoryBytesMax: 2_000_000 };
    const sql = (text: string): Promise<string> => fixture.sql(text, options).then(() => "ran", String);
    expect(await sql("SELECT length(replace(repeat('a', number + 3000000), 'a', 'b')) FROM numbers LIMIT 1")).toBe("ran");
    expect(await sql("SELECT replace(repeat('a', number + 3000000), 'a', 'b') FROM numbers LIMIT 1")).toContain("calls of functions holds");
    expect(await sql("SELECT count(*) FROM unnest(range(1000000)) AS u")).toContain("calls of functions holds");
  });
});

describe("wherever an expression stands it goes elsewhere when it is long", () => {
  const named = (name: string): string => `(SELECT number FROM numbers LIMIT 3) AS ${name}`;
  const rows = named("n");
  const long = (over = "number"): string => `length(replace(repeat('a', ${over} + 40000), 'a', 'b'))`;
  const texts: readonly (readonly [place: string, text: string, times: number])[] = [
    ["SELECT", `SELECT ${long()} AS l FROM ${rows}`, 3],
    ["WHERE", `SELECT number FROM ${rows} WHERE ${long()} > 40000`, 3],
    ["GROUP BY", `SELECT ${long()} AS l, count(*) FROM ${rows} GROUP BY l`, 3],
    ["HAVING", `SELECT number FROM ${rows} GROUP BY number HAVING ${long()} > 40000`, 3],
    ["ORDER BY", `SELECT number FROM ${rows} ORDER BY ${long()} DESC`, 3],
    ["ORDER BY LIMIT", `SELECT number FROM ${rows} ORDER BY ${long()} DESC LIMIT 2`, 3],
    ["an aggregate", `SELECT sum(${long()}), max(${long()}), count(DISTINCT ${long()}) FROM ${rows}`, 3],
    ["FILTER", `SELECT sum(number) FILTER (WHERE ${long()} > 40000) FROM ${rows}`, 3],
    ["an aggregate with FILTER", `SELECT sum(${long()}) FILTER (WHERE number > 0) FROM ${rows}`, 2],
    ["ORDER BY in an aggregate", `SELECT string_agg(cast(number AS string), ',' ORDER BY ${long()} DESC) FROM ${rows}`, 3],
    ["WITHIN GROUP", `SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY ${long()}) FROM ${rows}`, 3],
    ["PARTITION BY", `SELECT number, count(*) OVER (PARTITION BY ${long()}) FROM ${rows}`, 3],
    ["ORDER BY in a window", `SELECT number, row_number() OVER (ORDER BY ${long()} DESC) FROM ${rows}`, 3],
    ["a window's argument", `SELECT number, sum(${long()}) OVER (ORDER BY number), lag(${long()}) OVER (ORDER BY number) FROM ${rows}`, 3],
    ["a window's FILTER", `SELECT number, count(*) FILTER (WHERE ${long()} > 40000) OVER () FROM ${rows}`, 3],
    ["DISTINCT ON", `SELECT DISTINCT ON (${long()}) number FROM ${rows} ORDER BY ${long()}`, 3],
    ["JOIN ON, keys", `SELECT a.number FROM ${named("a")} JOIN ${named("b")} ON ${long("a.number")} = ${long("b.number")}`, 6],
    ["JOIN ON, others", `SELECT a.number FROM ${named("a")} JOIN ${named("b")} ON ${long("a.number + b.number")} > 40003`, 9],
    ["grouping sets", `SELECT ${long()} AS l, count(*) FROM ${rows} GROUP BY ROLLUP (${long()})`, 3],
    ["unnest", `SELECT count(*) FROM (SELECT unnest(range(number + 40000)) FROM ${rows}) AS u`, 3],
    [
      "IN (sub-query)",
      `SELECT number FROM ${rows} WHERE ${long()} NOT IN (SELECT ${long("m.number")} FROM (SELECT number FROM numbers LIMIT 1) AS m)`,
      4,
    ],
    ["a correlated sub-query", `SELECT (SELECT max(m.number) FROM ${named("m")} WHERE m.number < ${long("n.number")}) FROM ${rows}`, 3],
    ["VALUES", `SELECT a FROM (VALUES (${long("0")}), (${long("1")})) AS v (a)`, 2],
    ["DISTINCT", `SELECT DISTINCT ${long()} AS l FROM ${rows}`, 3],
    ["UNION", `SELECT ${long()} AS l FROM ${rows} UNION SELECT ${long()} FROM ${rows}`, 6],
    ["a cast", `SELECT length(cast(range(number + 40000) AS string)) FROM ${rows}`, 3],
    ["LIKE", `SELECT repeat('a', number + 4000000) LIKE '%b' FROM ${rows}`, 3],
  ];
  for (const [place, text, times] of texts) {
    test(place, async () => {
      const { rows: wanted } = await fixture.sql(text, { forceInterpreter: true });
      expect((await rowsOf(text)) as unknown).toEqual(wanted);
      expect(calls.names.length).toBe(times);
    });
  }

  test("LIMIT, which is a number of the plan, says that it takes too long", async () => {
    expect(await failureOf(`SELECT number FROM numbers LIMIT ${long("1")} - 40000`)).toContain("a constant in this place that takes long");
  });

  rowsHere("how often it is asked").test("INSERT, UPDATE, DELETE, and conditions on tags", async () => {
    await rowsOf("CREATE TABLE t (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(3) TIME INDEX)");
    await rowsOf(`INSERT INTO t VALUES ('a', ${long("0")}, 1), ('b', 2, 2)`);
    expect(calls.names.length).toBe(1);
    await rowsOf(`INSERT INTO t SELECT 'c', ${long()}, 3 FROM ${rows}`);
    expect(calls.names.length).toBe(4);
    await rowsOf(`UPDATE t SET v = ${long("v")} WHERE host = 'b'`);
    expect(calls.names.length).toBe(5);
    expect(await rowsOf("SELECT host, v FROM t ORDER BY host")).toEqual([
      ["a", 40_000],
      ["b", 40_002],
      ["c", 40_002],
    ]);
    expect(await rowsOf("SELECT host FROM t WHERE length(replace(repeat(host, 40000), 'a', 'xx')) = 80000")).toEqual([["a"]]);
    expect(calls.names.length).toBe(8);
    expect(await rowsOf("SELECT length(replace(repeat(host, 40000), 'a', 'xx')) AS l, count(*) FROM t GROUP BY l ORDER BY l")).toEqual([
      [40_000, 2],
      [80_000, 1],
    ]);
    expect(calls.names.length).toBe(11);
    await rowsOf(`DELETE FROM t WHERE ${long("v")} = 80000`);
    expect(await rowsOf("SELECT host FROM t ORDER BY host")).toEqual([["b"], ["c"]]);
  });
});

describe("without an allowance, all that can goes elsewhere and comes to the same", () => {
  // initcap has no form over columns.
  const texts = [
    "SELECT number, initcap(cast(number AS string)) || 'x', number BETWEEN 2 AND 4, number LIKE '1%' FROM numbers LIMIT 20",
    "SELECT CASE WHEN number > 5 THEN initcap(concat('a', number)) ELSE concat('b', 10 / (number - 6)) END FROM numbers LIMIT 5",
    "SELECT number FROM numbers WHERE initcap(cast(number AS string)) IN ('1', '5', '77') AND coalesce(NULL, number) < 50",
    "SELECT sum(cast(number AS decimal(10, 2))) FILTER (WHERE initcap(cast(number AS string)) LIKE '%1') FROM numbers",
    `SELECT initcap(cast(number % 3 AS string)) AS k, count(*), string_agg(initcap(cast(number AS string)), '-' ORDER BY number)
      FROM (SELECT number FROM numbers LIMIT 12) AS n GROUP BY k`,
    `SELECT number, lag(concat('a', number), 1, concat('none', number)) OVER
      (PARTITION BY md5(cast(number % 2 AS string)) ORDER BY concat('x', number)) FROM (SELECT number FROM numbers LIMIT 9) AS n`,
    `SELECT a.number, b.number FROM (SELECT number FROM numbers LIMIT 6) AS a LEFT JOIN (SELECT number FROM numbers LIMIT 8) AS b
      ON initcap(concat('', a.number)) = concat('', b.number - 3) AND length(concat(a.number, b.number)) < 4`,
    "SELECT TRY_CAST(concat('x', number) AS bigint), [number, 2] = [1, 2], named_struct('a', upper('q'))['a'] FROM numbers LIMIT 4",
  ];
  for (const text of texts) {
    test(text.slice(0, 60), async () => {
      const { rows: wanted } = await fixture.sql(text, { forceInterpreter: true });
      const eager = new NotedCalls(0);
      const { rows } = await fixture.sql(text, { calls: eager });
      const sorted = (all: readonly unknown[]): string[] => all.map((row) => String(row)).sort();
      expect(sorted(rows)).toEqual(sorted(wanted));
      expect(eager.names.length).toBeGreaterThan(0);
    });
  }
});
