/** The short form. The long one is `bun run test:fuzz grpc`. */
import { expect, test } from "bun:test";
import { fuzzGrpc } from "./fuzz-grpc.ts";
import { SEEDS } from "./seeds.ts";

const TEST_MS_MAX = 120_000;

test(
  "mutated calls of every method end with a status, and what was acknowledged is there",
  async () => {
    const said: string[] = [];
    const { failures, answers, rows } = await fuzzGrpc({ calls: 60, seed: 20_261_124, say: (text) => said.push(text) });
    expect([failures, failures.length === 0 ? [] : said]).toEqual([[], []]);
    for (const { service } of SEEDS) expect(answers.get(`${service} 0`)).toBeGreaterThan(0);
    expect(rows).toBeGreaterThan(0);
  },
  TEST_MS_MAX,
);
