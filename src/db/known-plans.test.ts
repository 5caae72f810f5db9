/** Answers do not hang on whether plans are known: one engine, a facade that keeps plans and one that does not, the same statements. */
import { expect, test } from "bun:test";
import { Machine } from "../../test/engine/machine.ts";
import { otherConstants } from "../../test/support/known-plans-check.ts";
import { errorText } from "../base/error.ts";
import { Scheduler } from "../base/scheduler/scheduler.ts";
import { displayName } from "../column/data-type.ts";
import { scalarAt } from "../column/scalar.ts";
import { newConnection } from "../query/connection.ts";
import { KnownPlans } from "../query/known-plans/known-plans.ts";
import type { ParameterValue, PreparedQuery } from "../query/prepared-query.ts";
import type { StatementResult } from "../query/statement-result.ts";
import { LocalDb, type StatementLimits } from "./local-db.ts";
import type { Session } from "./session.ts";

const NO_LIMITS: StatementLimits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY };
const { signal } = new AbortController();

function session(timeZone: string): Session {
  return { database: "public", timeZone, user: { name: "someone", mode: "rw" }, signal, connection: newConnection("postgres", signal) };
}

interface Both {
  readonly plans: KnownPlans;
  readonly keeping: LocalDb;
  readonly plain: LocalDb;
}

async function open(): Promise<Both> {
  const { engine } = await Machine.start();
  const plans = new KnownPlans(1e6);
  const keeping = new LocalDb(engine, new Scheduler(), { ...NO_LIMITS, plans });
  const plain = new LocalDb(engine, new Scheduler(), NO_LIMITS);
  await told(plain.sql("CREATE TABLE t (host STRING PRIMARY KEY, v DOUBLE, n BIGINT, ts TIMESTAMP(3) TIME INDEX)", session("UTC")));
  const rows = Array.from({ length: 200 }, (_, i) => `('h${i % 5}', ${i / 2}, ${i}, ${i * 1000})`);
  await told(plain.sql(`INSERT INTO t VALUES ${rows.join(", ")}`, session("UTC")));
  return { plans, keeping, plain };
}

/** Columns, types, rows, or the error, as text. */
async function told(results: AsyncIterable<StatementResult>): Promise<string> {
  const lines: string[] = [];
  try {
    for await (const result of results) {
      if (result.kind === "affected") continue;
      const { headers, batches } = result;
      lines.push(headers.map(({ name, type }) => `${name} ${displayName(type)}`).join(", "));
      for await (const { rowCount, vectors } of batches) {
        for (let row = 0; row < rowCount; row++)
          lines.push(vectors.map((vector, c) => String(scalarAt(vector, headers[c]?.type ?? { kind: "null" }, row))).join(","));
      }
    }
  } catch (thrown) {
    lines.push(errorText(thrown));
  }
  return lines.join("\n");
}

const TEXTS: readonly ((host: string, from: string, to: string) => string)[] = [
  (host, from, to) => `SELECT ts, v FROM t WHERE host = '${host}' AND ts >= ${from} AND ts < ${to}`,
  (host) => `SELECT * FROM t WHERE host = '${host}' ORDER BY ts DESC LIMIT 1`,
  (host, from) => `SELECT host, count(*), max(v) FROM t WHERE host IN ('${host}', 'h1') AND ts > ${from} GROUP BY host ORDER BY 1`,
  (host, from) => `SELECT n FROM t WHERE ts BETWEEN '${host}' AND '1970-01-01 00:00:02' OR\n n = ${from}`,
  (host, from, to) => `SELECT n FROM t WHERE host = '${host}' AND ts >= ${from} AND nosuch = ${to}`,
  (host, from, to) => `SELECT n + 1 FROM t WHERE host = '${host}' AND v < ${from} LIMIT ${to}`,
];

const string = (text: string): TextConstantOf<"string"> => ({ kind: "string", text, offset: 0 });
const number = (text: string): TextConstantOf<"number"> => ({ kind: "number", text, offset: 0 });
interface TextConstantOf<K> {
  readonly kind: K;
  readonly text: string;
  readonly offset: number;
}

test("texts of one shape give what they give without known plans, over changes of the schema and zones", async () => {
  const { plans, keeping, plain } = await open();
  const other = otherConstants(7);
  for (let round = 0; round < 30; round++) {
    if (round === 10) await told(plain.sql("ALTER TABLE t ADD COLUMN w DOUBLE DEFAULT 5.0", session("UTC")));
    if (round === 20) await told(plain.sql("ALTER TABLE t MODIFY COLUMN n STRING", session("UTC")));
    for (const text of TEXTS) {
      const host = other(string(`h${round % 7}`)).replaceAll("'", "''");
      const asked = text(host, other(number(String(round * 1000))), other(number(String(round * 3000 + 5))));
      const zone = round % 5 === 4 ? "+05:00" : "UTC";
      expect([asked, await told(keeping.sql(asked, session(zone)))]).toEqual([asked, await told(plain.sql(asked, session(zone)))]);
    }
  }
  expect(plans.hits).toBeGreaterThan(40);
});

const INT64: ParameterValue["type"] = { kind: "int", bits: 64, signed: true };
const PREPARED = [
  "SELECT ts, v FROM t WHERE host = $1 AND ts >= $2 AND n < 150",
  "SELECT n FROM t WHERE host = $1 AND ts > $2 ORDER BY ts DESC LIMIT 2",
  "SELECT $1, n FROM t WHERE ts <= $2 AND host = 'h1'",
  "SELECT n FROM t WHERE v > 3 AND host = $1 LIMIT $2",
];

test("prepared statements give what they give without known plans", async () => {
  const { plans, keeping, plain } = await open();
  const given = (round: number): readonly ParameterValue[] => {
    const when = [
      { type: INT64, value: BigInt(round * 1000) },
      { type: { kind: "string" }, value: `1970-01-01 00:00:0${round % 10}` },
    ] as const;
    const last = when[round % 4 === 3 ? 1 : 0] ?? when[0];
    return [round % 6 === 5 ? { type: { kind: "null" }, value: undefined } : { type: { kind: "string" }, value: `h${round % 6}` }, last];
  };
  const execute = async (db: LocalDb, query: PreparedQuery, round: number, zone: string): Promise<string> => {
    try {
      return await told(db.execute(query, given(round), session(zone)));
    } catch (thrown) {
      return errorText(thrown);
    }
  };
  for (const text of PREPARED) {
    for (let round = 0; round < 24; round++) {
      if (round === 16) await told(plain.sql(`ALTER TABLE t ADD COLUMN "w ${text.length}" DOUBLE`, session("UTC")));
      const zone = round % 8 === 7 ? "+05:00" : "UTC";
      const [one, two] = [await keeping.prepare(text, session(zone)), await plain.prepare(text, session(zone))];
      expect([one.columns, one.parameters]).toEqual([two.columns, two.parameters]);
      expect([text, round, await execute(keeping, one, round, zone)]).toEqual([text, round, await execute(plain, two, round, zone)]);
    }
  }
  expect(plans.hits).toBeGreaterThan(30);
});

test("a plan that is known is no permission", async () => {
  const { keeping } = await open();
  const text = (host: string): string => `SELECT v FROM t WHERE host = '${host}'`;
  const writer: Session = { ...session("UTC"), user: { name: "writer", mode: "wo" } };
  await told(keeping.sql(text("h1"), session("UTC")));
  expect(await told(keeping.sql(text("h2"), writer))).toBe("User is not authorized to perform this action");
  await keeping.prepare(text("h1"), session("UTC"));
  expect(await keeping.prepare(text("h1"), writer).then(() => "", errorText)).toBe("User is not authorized to perform this action");
});
