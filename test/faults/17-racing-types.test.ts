/**
 * Fault 17: clients that make the same column, or the same table, at the same time with different types. One type wins; its rows are all
 * there; every other row is refused with both types in the text; nothing in between, after a kill as well.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { postLines, queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const ROUNDS = 20;
const CLIENTS = 6;
/** The field as each client writes it, and the name of that type. */
const VALUES: readonly (readonly [text: string, type: string])[] = [
  ["1i", "Int64"],
  ["1.5", "Float64"],
  ['"x"', "String"],
  ["true", "Boolean"],
  ["1u", "UInt64"],
];

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

/** All clients at once write a field of their type; returns how many rows each type got in. */
async function race(table: string): Promise<ReadonlyMap<string, number>> {
  const kept = new Map<string, number>();
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const [text, type] = VALUES[client % VALUES.length]!;
      const { status, text: answer } = await postLines(server.url, `${table},client=c${client} raced=${text} ${client}`);
      if (status === 204) kept.set(type, (kept.get(type) ?? 0) + 1);
      else expect({ status, answer }).toEqual({ status: 400, answer: expect.stringMatching(/column raced.*got/) });
    }),
  );
  return kept;
}

async function check(table: string, kept: ReadonlyMap<string, number>): Promise<void> {
  expect(kept.size).toBe(1);
  const [[type, count] = ["", 0]] = kept;
  const { rows, types } = await queryRows(server.url, `SELECT raced FROM ${table} WHERE raced IS NOT NULL`);
  expect({ table, types, rows: rows.length }).toEqual({ table, types: [type], rows: count });
}

test("one type wins, with all of its rows and no other, whether the table is new or not", async () => {
  const outcomes = new Map<string, ReadonlyMap<string, number>>();
  for (let round = 0; round < ROUNDS; round++) {
    const table = `race_${round}`;
    if (round % 2 === 0) await writeLines(server.url, `${table},client=first other=1i 1000`);
    outcomes.set(table, await race(table));
  }
  for (const [table, kept] of outcomes) await check(table, kept);
  await server.kill();
  await server.restart();
  for (const [table, kept] of outcomes) await check(table, kept);
});
