import { afterAll, expect, test } from "bun:test";
import { Machine } from "../../../../../../test/engine/machine.ts";
import { startFixture } from "../../../../../../test/support/http-fixture.ts";
import { DbError } from "../../../../../base/error.ts";
import { Scheduler } from "../../../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../../../base/status-code.ts";
import type { UserProvider } from "../../../../../db/auth/user.ts";
import { LocalDb } from "../../../../../db/local-db.ts";

const { engine } = await Machine.start();
const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const userProvider: UserProvider = {
  authenticate: (name, password) => {
    if (password !== "pw") return Promise.reject(new DbError(StatusCode.UserPasswordMismatch, "wrong"));
    return Promise.resolve({ name, mode: name === "writer" ? "wo" : "ro" });
  },
  describe: () => "test",
  close: () => undefined,
};
const { server, url, bugs } = await startFixture({ db, userProvider });
afterAll(() => server.stop(50));

const API = "/v1/prometheus/api/v1";
const BY_FORM = [
  [`${API}/query`, "query=1"],
  [`${API}/query_range`, "query=1&start=0&end=1&step=1"],
  [`${API}/labels`, ""],
  [`${API}/series`, "match[]=up"],
  [`${API}/query_exemplars`, "query=up&start=0&end=1"],
  [`${API}/format_query`, "query=1"],
  [`${API}/parse_query`, "query=1"],
  ["/v1/promql", "query=1&start=0&end=1&step=1"],
] as const;
const BY_GET = [
  "label/job/values",
  "label/__name__/values",
  "metadata",
  "rules",
  "alerts",
  "targets",
  "targets/metadata",
  "alertmanagers",
  "status/buildinfo",
  "status/runtimeinfo",
  "status/config",
  "status/flags",
  "status/tsdb",
].map((path) => [`${API}/${path}`, ""] as const);

/** Statuses by endpoint, by GET and, where there is one, by POST. */
async function statuses(headers: Readonly<Record<string, string>>): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const [path, query] of [...BY_FORM, ...BY_GET]) found[`GET ${path}`] = (await fetch(`${url}${path}?${query}`, { headers })).status;
  const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
  for (const [path, query] of BY_FORM) {
    // That of rows reads the query of the URL alone.
    const isRows = path === "/v1/promql";
    const response = await fetch(`${url}${path}${isRows ? `?${query}` : ""}`, { method: "POST", headers: form, body: isRows ? "" : query });
    found[`POST ${path}`] = response.status;
  }
  return found;
}

const basic = (account: string): Readonly<Record<string, string>> => ({ authorization: `Basic ${btoa(account)}` });

test("every endpoint answers an account that may read, and refuses all others", async () => {
  const all = (found: Readonly<Record<string, number>>): readonly number[] => [...new Set(Object.values(found))];
  const reader = await statuses(basic("reader:pw"));
  expect(Object.entries(reader).filter(([, status]) => status !== 200)).toEqual([]);
  const writer = await statuses(basic("writer:pw"));
  expect(Object.entries(writer).filter(([, status]) => status !== 403)).toEqual([]);
  expect(all(await statuses(basic("reader:no")))).toEqual([401]);
  expect(all(await statuses({}))).toEqual([401]);
  expect(bugs).toEqual([]);
});
