/**
 * Fault 13: small requests that grow: bombs of every coding, a line of a million tags, a million columns, heads without end. Each is
 * refused by name, memory stays small, and the server goes on. More of them: `test/process/bad-input.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { platform } from "node:os";
import zlib from "node:zlib";
import { postLines, queryRows, writeLines } from "../support/http-client.ts";
import { openRequest } from "../support/raw-request.ts";
import { TestServer } from "../support/server-process.ts";

const MIB = 1024 * 1024;
const BOMB_BYTES = 512 * MIB;
/** An idle server, and four bodies of 64 MiB as sent, decoded and being decoded. */
const PEAK_BYTES_MAX = 1024 * MIB;
const MILLION = 1_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await writeLines(server.url, "good,host=a v=1i 1");
});
afterAll(async () => {
  await server.end();
});

describe("a bomb", () => {
  const zeros = new Uint8Array(BOMB_BYTES);
  const bombs: Readonly<Record<string, () => Uint8Array>> = {
    gzip: () => Bun.gzipSync(zeros),
    deflate: () => zlib.deflateSync(zeros),
    zstd: () => Bun.zstdCompressSync(zeros),
  };

  test.each(Object.keys(bombs))(
    "of %s is refused at the limit, four at a time",
    async (coding) => {
      const bomb = bombs[coding]!();
      expect(bomb.length).toBeLessThan(MIB);
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => postLines(server.url, bomb, { headers: { "content-encoding": coding } })),
      );
      for (const { status } of answers) expect(status).toBe(413);
    },
    20_000,
  );

  test("within a bomb is not looked into: one coding is decoded", async () => {
    const nested = Bun.gzipSync(Bun.gzipSync(zeros));
    const { status } = await postLines(server.url, nested, { headers: { "content-encoding": "gzip" } });
    expect(status).toBe(400);
  });
});

describe("a million", () => {
  async function check(lines: string, reason: RegExp): Promise<void> {
    const { status, text } = await postLines(server.url, lines);
    expect(status).toBe(400);
    expect(text).toMatch(reason);
    expect(text.length).toBeLessThan(64 * 1024);
  }

  test("tags of one line", async () => {
    const tags = Array.from({ length: MILLION }, (_, i) => `t${i}=v`).join(",");
    await check(`good,${tags} v=1i 2`, /longer than|more than/);
  });

  test("fields of one line", async () => {
    const fields = Array.from({ length: MILLION }, (_, i) => `f${i}=1`).join(",");
    await check(`good,host=a ${fields} 2`, /more than 4096 columns/);
  });

  test("tag names, or nearly so, of as many lines", async () => {
    const lines = Array.from({ length: MILLION / 5 }, (_, i) => `wide,t${i}=v v=1i ${i}`).join("\n");
    await check(lines, /cannot give table wide 200001 columns: the limit is 4096/);
  });

  test("commas, equals signs and backslashes", async () => {
    for (const character of [",", "=", "\\", '"']) await check(`good,host=a v=1i${character.repeat(MILLION)}`, /line 1/);
  });
});

test("a head of a megabyte, in one header or in thousands", async () => {
  const long = await openRequest(server.url, "GET /health", { "x-long": "a".repeat(MIB) });
  expect(await long.closed()).toMatch(/^HTTP\/1\.1 431 /);
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`x-${i}`, "a".repeat(40)]));
  const wide = await openRequest(server.url, "GET /health", many);
  expect(await wide.closed()).toMatch(/^HTTP\/1\.1 431 /);
});

describe("after all that", () => {
  test("the server works, and nothing of them is there", async () => {
    await writeLines(server.url, "good,host=b v=2i 1");
    expect((await queryRows(server.url, "SELECT host, v FROM good ORDER BY host")).rows).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(server.log()).not.toMatch(/"level":"error"/);
  });

  test.skipIf(platform() !== "linux")("memory stayed small", () => {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.running.pid}/status`, "utf8"))?.[1];
    expect(Number(peak) * 1024).toBeLessThan(PEAK_BYTES_MAX);
  });
});
