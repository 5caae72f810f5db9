/** Texts that are long, and many: what holds them counts their length, and what computes them does so for few rows at a time. */
import { describe, expect, test } from "bun:test";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import type { ExecOptions } from "../execute.ts";

const data = new QueryFixture();
/** 200 texts of about 10,000 characters, by 50 keys: 2 MB. */
const TEXTS = "(SELECT value % 50 AS k, repeat(CAST(value AS STRING), 4000) AS s FROM generate_series(1, 200)) AS q";

async function fails(sql: string, why: RegExp, options: ExecOptions): Promise<void> {
  for (const forceInterpreter of [false, true]) {
    const run = data.sql(sql, { ...options, forceInterpreter });
    expect(await run.then(() => "it ran", String), sql).toMatch(why);
  }
}

describe("aggregates count the texts they keep", () => {
  const little: ExecOptions = { memoryBytesMax: 512 * 1024 };
  for (const call of [
    "min(s)",
    "max(s)",
    "first_value(s)",
    "first_value(s ORDER BY s)",
    "last_value(k ORDER BY s)",
    "nth_value(s, -2)",
    "nth_value(s, 1 ORDER BY s DESC)",
    "array_agg(s)",
    "array_agg(k ORDER BY s)",
    "string_agg(s, '')",
    "string_agg('a', s)",
    "count(DISTINCT s)",
  ]) {
    test(call, async () => {
      await fails(`SELECT k, ${call} FROM ${TEXTS} GROUP BY k`, /query.memory_limit allows \(aggregate holds/, little);
    });
  }
  test("and one that keeps the best alone does not count those before", async () => {
    const { rows } = await data.sql(`SELECT char_length(max(s)), char_length(last_value(s)) FROM ${TEXTS}`, little);
    expect(rows.map((row) => row.map(String))).toEqual([["8000", "12000"]]);
  });
});

describe("other operators too", () => {
  const little: ExecOptions = { memoryBytesMax: 512 * 1024 };
  test("sorts, windows, sets and sub-queries", async () => {
    const limit = /query.memory_limit allows/;
    await fails(`SELECT s FROM ${TEXTS} ORDER BY s`, limit, little);
    await fails(`SELECT s, row_number() OVER (ORDER BY k) FROM ${TEXTS}`, limit, little);
    await fails(`SELECT string_agg(s, ',') OVER (ORDER BY k) FROM ${TEXTS} WHERE k < 5`, limit, little);
    await fails(`SELECT DISTINCT s FROM ${TEXTS}`, limit, little);
    await fails(`SELECT k FROM ${TEXTS} WHERE 'x' IN (SELECT s FROM ${TEXTS}) OR k < 3`, limit, little);
    await fails(`SELECT a.k FROM ${TEXTS.replace("AS q", "AS a")} FULL JOIN ${TEXTS.replace("AS q", "AS b")} ON a.s = b.s`, limit, little);
  });
});

describe("texts of one batch", () => {
  test("are computed for few rows at a time, in their order", async () => {
    const { rows } = await data.sql("SELECT repeat(CAST(value AS STRING), 30000) FROM generate_series(1, 600)");
    expect(rows.map(([text]) => Number.parseInt(String(text).slice(0, 3), 10) % 10)).toEqual(
      Array.from(
        { length: 600 },
        (_, i) =>
          Number.parseInt(
            String(i + 1)
              .repeat(3)
              .slice(0, 3),
            10,
          ) % 10,
      ),
    );
  });
  test("are refused when a few are too large together", async () => {
    const long = "repeat(CAST(value AS STRING), 8000000)";
    await fails(`SELECT (SELECT ${long.replace("value", "a.value")}) FROM generate_series(10, 60) AS a`, /256 MiB/, {});
  });
});
