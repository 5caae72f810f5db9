/** The checker must see a broken promise: a fake server answers with rows that are wrong in one way each. */
import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../bench/macro/random.ts";
import { amountOf, type Batch, labelOf, SEATS_MAX, shardTag, tableOf, timeOf, writerTag } from "./batch.ts";
import { checkStore } from "./check.ts";
import { DOORS } from "./doors/doors.ts";
import { lineDoor } from "./doors/line.ts";
import { WriterModel } from "./model.ts";
import { retriesAfter } from "./retry.ts";

const FRESH: Batch = { writer: 0, number: 1, kind: "fresh", origin: 1, seats: 12 };

/** A stored row, as the fake server keeps it. */
interface Row {
  readonly table: number;
  readonly writer: number;
  readonly origin: number;
  readonly seat: number;
  readonly version: number;
  readonly labelVersion: number;
  readonly amount?: number;
}

function rowsOf(batch: Batch, version: number = batch.number, labelVersion: number = version): Row[] {
  return Array.from({ length: batch.seats }, (_, seat) => ({
    table: tableOf(batch.origin, seat, lineDoor.tables.length),
    writer: batch.writer,
    origin: batch.origin,
    seat,
    version,
    labelVersion,
  }));
}

/** Answers the checker's two queries from rows in memory. */
function fakeServer(rows: readonly Row[]): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const sql = new URLSearchParams(await request.text()).get("sql") ?? "";
      const own = rows.filter((row) => sql.includes(`crash_${row.table} `));
      const amount = (row: Row): number => row.amount ?? amountOf(row.writer, row.version, row.seat);
      if (sql.includes("GROUP BY")) return answer(sums(own, amount));
      const origins = new Set(/IN \(([\d, ]*)\)/.exec(sql)?.[1]?.split(", ").map(Number));
      const found = own.filter((row) => sql.includes(`'${writerTag(row.writer)}'`) && origins.has(row.origin));
      return answer(
        found.map((row) => [
          String(row.origin),
          String(row.seat),
          String(row.version),
          JSON.stringify(shardTag(row.seat)),
          String(amount(row)),
          JSON.stringify(labelOf(row.writer, row.labelVersion, row.seat)),
          String(timeOf(row.origin, row.seat)),
        ]),
      );
    },
  });
}

function sums(rows: readonly Row[], amount: (row: Row) => number): string[][] {
  const groups = Map.groupBy(rows, (row) => `"${writerTag(row.writer)}",${row.origin}`);
  return [...groups].map(([key, group]) => {
    const sum = (value: (row: Row) => number): number => group.reduce((total, row) => total + value(row), 0);
    return [key, String(group.length), String(sum((row) => row.seat)), String(sum((row) => row.version)), String(sum(amount))];
  });
}

function answer(rows: readonly (readonly string[])[]): Response {
  const body = rows.map((row) => `[${row.join(",")}]`).join(",");
  return new Response(`{"code":0,"output":[{"records":{"schema":{"column_schemas":[]},"rows":[${body}]}}]}`);
}

/** Acknowledges the fresh batch, leaves `unanswered` open, lets the server hold `rows`, and expects `want` in the violations. */
async function check(rows: readonly Row[], unanswered: Batch | undefined, want: readonly RegExp[]): Promise<WriterModel> {
  const model = new WriterModel(0, lineDoor);
  model.send(FRESH);
  model.apply();
  if (unanswered !== undefined) model.send(unanswered);
  const server = fakeServer(rows);
  try {
    const { violations } = await checkStore(server.url.origin, [model], true);
    expect(violations.length > 0).toBe(want.length > 0);
    for (const pattern of want) expect(violations.join("\n")).toMatch(pattern);
  } finally {
    await server.stop(true);
  }
  return model;
}

const full: Batch = { ...FRESH, number: 2, kind: "full", seats: 5 };
const partial: Batch = { ...full, kind: "partial" };
const removal: Batch = { ...FRESH, number: 2, kind: "delete" };
const isLeft = ({ table }: Row): boolean => table !== removal.number % lineDoor.tables.length;
const second: Batch = { ...FRESH, number: 2, origin: 2 };

describe("a store that kept its promises", () => {
  test("holds what was acknowledged", async () => {
    await check(rowsOf(FRESH), undefined, []);
  });

  test("holds an unanswered batch whole, or not at all", async () => {
    expect((await check(rowsOf(FRESH), second, [])).origins.has(2)).toBe(false);
    expect((await check([...rowsOf(FRESH), ...rowsOf(second)], second, [])).origins.has(2)).toBe(true);
  });

  test("holds an unanswered overwrite whole: a partial one leaves labels", async () => {
    const rest = rowsOf(FRESH).slice(full.seats);
    expect((await check([...rowsOf(full), ...rest], full, [])).origins.get(1)?.labels[0]).toBe(2);
    expect((await check([...rowsOf(partial, 2, 1), ...rest], partial, [])).origins.get(1)?.labels[0]).toBe(1);
  });
});

describe("a store that was asked to delete rows", () => {
  test("holds all of them or none when it did not answer", async () => {
    expect((await check(rowsOf(FRESH), removal, [])).origins.get(1)?.versions).not.toContain(0);
    expect((await check(rowsOf(FRESH).filter(isLeft), removal, [])).origins.get(1)?.versions).toContain(0);
    const half = rowsOf(FRESH).filter((row) => isLeft(row) || row.seat > 5);
    await check(half, removal, [/delete batch 2 of writer 0: 2 of 4 rows are gone/]);
  });

  test("does not bring them back", async () => {
    const model = await check(rowsOf(FRESH).filter(isLeft), removal, []);
    const server = fakeServer(rowsOf(FRESH));
    const { violations } = await checkStore(server.url.origin, [model], true);
    await server.stop(true);
    expect(violations.join("\n")).toMatch(/seat 1: deleted, but there with version 1/);
  });
});

describe("a broken promise", () => {
  test("an acknowledged row that is gone is found", async () => {
    await check(rowsOf(FRESH).slice(1), undefined, [/seat 0: acknowledged by batch 1, but gone/, /count and sums/]);
    await check([], undefined, [/lost all rows/]);
  });

  test("a row that is there twice is found", async () => {
    await check([...rowsOf(FRESH), rowsOf(FRESH)[3]!], undefined, [/seat 3 is there twice/, /count and sums/]);
  });

  test("a row that was never sent is found", async () => {
    await check([...rowsOf(FRESH), ...rowsOf({ ...FRESH, origin: 9 })], undefined, [/rows of w0 9 .* nobody sent/]);
    await check([...rowsOf(FRESH), ...rowsOf({ ...FRESH, seats: 13 }).slice(12)], undefined, [/seats 12 were never sent/]);
  });

  test("half a request is found", async () => {
    await check([...rowsOf(FRESH), ...rowsOf(second).slice(0, 7)], second, [/fresh batch 2 of writer 0: 7 of 12 rows survived/]);
    await check([...rowsOf(full).slice(0, 2), ...rowsOf(FRESH).slice(2)], full, [/full batch 2 of writer 0: 2 of 5 rows survived/]);
  });

  test("an old value and a wrong value are found", async () => {
    const [first, ...rest] = rowsOf(FRESH);
    await check([{ ...first!, amount: -1 }, ...rest], undefined, [/amount -1, .*, want .*amount 262138,/]);
    await check([{ ...first!, version: 0 }, ...rest], undefined, [/version 0, want 1/]);
    await check([{ ...first!, labelVersion: 0 }, ...rest], undefined, [/label w0 v0 s0, .*, want .*label w0 v1 s0,/]);
  });
});

describe("an unanswered batch is sent again", () => {
  test("where rows can only be added, if it is sure that it is not there", () => {
    const models = DOORS.map((door, writer) => new WriterModel(writer, door));
    const random = { ...seededRandom(1), next: () => 0 };
    const sentAgain = (fate: "applied" | "absent"): string[] => {
      const retries = retriesAfter(
        models,
        models.map(() => FRESH),
        models.map(() => fate),
        random,
      );
      return DOORS.filter((_, i) => retries[i] !== undefined).map(({ name }) => name);
    };
    expect(sentAgain("absent")).toEqual(DOORS.map(({ name }) => name));
    expect(sentAgain("applied")).toEqual(["line", "remote-write", "native", "native-stream", "native-columns", "otlp-grpc-metrics"]);
  });
});

describe("line protocol", () => {
  const linesOf = (batch: Batch): string => {
    const request = lineDoor.request(batch);
    return "body" in request ? String(request.body) : "";
  };

  test("spreads a request over all tables, with one time a row", () => {
    const lines = linesOf({ ...FRESH, seats: SEATS_MAX })
      .trim()
      .split("\n");
    expect(new Set(lines.map((line) => line.split(",")[0])).size).toBe(lineDoor.tables.length);
    expect(new Set(lines.map((line) => line.split(" ").at(-1))).size).toBe(SEATS_MAX);
  });

  test("leaves the lasting fields out of a partial overwrite", () => {
    expect(linesOf({ ...partial, seats: 1 })).toBe(`crash_1,writer=w0,shard=s0 version=2i,amount=${amountOf(0, 2, 0)} ${timeOf(1, 0)}\n`);
    expect(linesOf({ ...full, seats: 1 })).toContain('origin=1i,seat=0i,label="w0 v2 s0"');
  });
});
