/** `docs/security.md` says the truth: its settings exist, and its table of requests is what a server does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { KNOB_OF_KEY, KNOBS } from "../../src/config/knobs.ts";
import { writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const ROOT = resolve(import.meta.dir, "../..");
const text = await Bun.file(join(ROOT, "docs/security.md")).text();
const words = [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

test("every setting that it names exists", () => {
  const sections = Object.keys(KNOBS);
  const named = words.filter((word) => sections.includes(word.split(".")[0] ?? "") && /^\w+\.\w+$/.test(word));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((key) => !KNOB_OF_KEY.has(key))).toEqual([]);
  const alone = words.filter((word) => /^[a-z]+_[a-z_]+$/.test(word));
  expect(alone.filter((key) => !KNOB_OF_KEY.has(key))).toEqual([]);
});

test("every file that it names exists, and the README leads to it", async () => {
  const files = words.filter((word) => /^(?:src|test)\//.test(word));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  expect(await Bun.file(join(ROOT, "README.md")).text()).toContain("(docs/security.md)");
});

const rows = text
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").slice(1, -1));

/** Statements for the words behind `POST /v1/sql`. */
const STATEMENTS: Readonly<Record<string, string>> = {
  "that reads": "SELECT v FROM cpu",
  "that writes": "INSERT INTO cpu (host, v, greptime_timestamp) VALUES ('b', 1, 1)",
  "that copies rows out": "COPY cpu TO 'cpu.csv' WITH (FORMAT = 'csv')",
};

const account = (name: string): Readonly<Record<string, string>> => ({ authorization: `Basic ${btoa(`${name}:pw`)}` });
/** Headers of each column. The page has the best credentials, which no page has. */
const SENDERS: readonly Readonly<Record<string, string>>[] = [
  {},
  account("reader"),
  account("writer"),
  account("all"),
  { ...account("all"), origin: "https://evil.example", "sec-fetch-site": "cross-site" },
];

/** A busy machine takes its time. */
const START_MS_MAX = 60_000;
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:all=pw,reader:ro=pw,writer:wo=pw"] });
  await writeLines(server.url, "cpu,host=a v=1 1", { headers: account("all") });
}, START_MS_MAX);
afterAll(async () => server.end());

/** Content types without which a request is turned away before anyone asks who sent it. */
const TYPES: Readonly<Record<string, string>> = {
  "/v1/prometheus/write": "application/x-protobuf",
  "/v1/pipelines/mine": "application/x-yaml",
  "/v1/elasticsearch/_bulk": "application/x-ndjson",
};
/** Parameters of which the same is true. */
const QUERIES: Readonly<Record<string, string>> = { "/v1/ingest": "?table=t&pipeline_name=greptime_identity" };

/** Whether a request is let in: what happens to it then is another matter. */
async function isLetIn(request: string, rest: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  const [method = "", path = ""] = request.split(" ");
  const sql = STATEMENTS[rest];
  const body = sql === undefined ? (method === "POST" ? "info" : undefined) : new URLSearchParams({ sql }).toString();
  const type = sql === undefined ? (TYPES[path] ?? "text/plain") : "application/x-www-form-urlencoded";
  const init = { method, headers: { ...headers, "content-type": type }, ...(body === undefined ? {} : { body }) };
  const { status } = await fetch(server.url + path + (QUERIES[path] ?? ""), init);
  return status !== 401 && status !== 403;
}

test("its table has all rows that this test reads", () => {
  expect(rows.length).toBe(16);
  for (const row of rows) expect(row.length).toBe(6);
});

test.each(rows.map((row) => [row[0]?.trim() ?? "", row.slice(1).map((cell) => cell.trim())] as const))("%s", async (requests, cells) => {
  const rest = /` (that [a-z ]+)$/.exec(requests)?.[1] ?? "";
  for (const [, request = ""] of requests.matchAll(/`([A-Z]+ [^`]+)`/g)) {
    const got: string[] = [];
    for (const headers of SENDERS) got.push((await isLetIn(request, rest, headers)) ? "yes" : "no");
    expect([request, rest, ...got]).toEqual([request, rest, ...cells]);
  }
});
