/** Calls that take long on one row: they run elsewhere, once, and give the same. */
import { beforeEach, describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import type { Value } from "../function/value.ts";
import { answerCall } from "../workers/serve-calls.ts";
import type { CallJob, LongCalls } from "./long-calls.ts";

/** Runs calls a round later, and notes their names. */
class NotedCalls implements LongCalls {
  readonly names: string[] = [];

  async call(job: CallJob): Promise<Value> {
    this.names.push(job.name);
    await Bun.sleep(0);
    const answer = answerCall({ id: 1, job: structuredClone(job) });
    if (answer.kind === "failed") throw new DbError(answer.code, answer.message);
    return answer.value;
  }
}

let fixture: QueryFixture;
let calls: NotedCalls;
beforeEach(() => {
  fixture = new QueryFixture();
  calls = new NotedCalls();
});

const rowsOf = async (text: string): Promise<unknown> => (await fixture.sql(text, { calls })).rows;

describe("a long call", () => {
  test("of constants is made once for all rows, and is no constant of the plan", async () => {
    const text = "SELECT array_length(array_intersect(range(30000), range(10000, 50000))) AS n FROM numbers LIMIT 40";
    expect(await rowsOf(text)).toEqual(Array.from({ length: 40 }, () => [20_000]));
    expect(calls.names).toEqual(["range", "range", "array_intersect", "array_length"]);
  });

  test("of each row is made for each, in lists and conditions", async () => {
    expect(
      await rowsOf("SELECT max(n) FROM (SELECT length(replace(repeat('a', number + 40000), 'a', 'bc')) AS n FROM numbers LIMIT 5) AS r"),
    ).toEqual([[80_008]]);
    expect(calls.names).toEqual(Array.from({ length: 5 }, () => "replace"));
    expect(await rowsOf("SELECT number FROM numbers WHERE regexp_count(repeat('ab', number + 20000), 'ab') = 20003")).toEqual([[3]]);
    expect(await rowsOf("SELECT count(*) FROM unnest(range(100000)) AS u")).toEqual([[100_000]]);
  });

  test("fails as it would here, and only where its row needs it", async () => {
    const many = "repeat('[', 40000)";
    expect(await rowsOf(`SELECT CASE WHEN number = 1000 THEN json_to_string(parse_json(${many})) END AS j FROM numbers LIMIT 1`)).toEqual([
      [undefined],
    ]);
    expect(await rowsOf(`SELECT json_to_string(parse_json(${many})) FROM numbers LIMIT 1`).then(() => "accepted", String)).toContain(
      "cannot parse",
    );
  });

  test("that is short runs here", async () => {
    expect(await rowsOf("SELECT array_length(array_intersect(range(100), range(50, 150))), upper('x')")).toEqual([[50, "X"]]);
    expect(await rowsOf("SELECT length(upper(concat('x', repeat('y', number + 100000)))) FROM numbers LIMIT 1")).toEqual([[100_001]]);
    expect(calls.names).toEqual([]);
  });

  test("is left when the statement is over", async () => {
    const controller = new AbortController();
    const leaving = new QueryFixture(controller.signal);
    const never: LongCalls = {
      call: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new DbError(StatusCode.Cancelled, "Query has been cancelled")));
          setImmediate(() => controller.abort());
        }),
    };
    expect(
      await leaving.sql("SELECT replace(repeat('a', number + 40000), 'a', 'b') FROM numbers", { calls: never }).then(() => "ran", String),
    ).toContain("cancelled");
  });
});
