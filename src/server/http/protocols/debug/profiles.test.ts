import { heapStats } from "bun:jsc";
import { afterAll, expect, test } from "bun:test";
import { startFixture } from "../../../../../test/support/http-fixture.ts";
import { createUserProvider } from "../../../../db/auth/user-provider.ts";
import { silentLogger } from "../../../../base/log.ts";

const { server, url } = await startFixture();
const accounts = "static_user_provider:cmd:all=pw,reader:ro=pw,writer:wo=pw";
const guarded = await startFixture({ userProvider: createUserProvider(accounts, silentLogger) });
afterAll(async () => {
  await server.stop(50);
  await guarded.server.stop(50);
});

async function ask(path: string, init: RequestInit = { method: "POST" }): Promise<readonly [number, string]> {
  const response = await fetch(`${url}/debug/prof/${path}`, init);
  return [response.status, await response.text()];
}

test("a profile of time has the form that was asked for", async () => {
  for (const [output, begin] of [
    ["proto", "\n"],
    ["text", "CPU of the main thread: cpu in nanoseconds, over 1."],
    ["flamegraph", "<?xml"],
  ] as const) {
    const response = await fetch(`${url}/debug/prof/cpu?seconds=1&frequency=1000&output=${output}`, { method: "POST" });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    expect(await response.text()).toStartWith(begin);
  }
});

test("one profile at a time, by GET too; the next one may begin when the client left", async () => {
  const leaving = new AbortController();
  const first = fetch(`${url}/debug/prof/cpu?seconds=60`, { signal: leaving.signal }).catch((error: unknown) => String(error));
  await Bun.sleep(100);
  expect(await ask("cpu?seconds=1")).toEqual([409, '{"error":"cannot take a profile: another one is being taken"}']);
  leaving.abort();
  await first;
  let status = 409;
  for (let tries = 0; tries < 50 && status === 409; tries++) {
    await Bun.sleep(20);
    [status] = await ask("cpu?seconds=1");
  }
  expect(status).toBe(200);
});

test("what is no profile is refused", async () => {
  const refused = async (query: string, why: string): Promise<void> => {
    expect([query, ...(await ask(`cpu?${query}`))]).toEqual([query, 400, `Failed to deserialize query string: ${why}`]);
  };
  await refused("seconds=x", "seconds: invalid digit found in string");
  await refused("seconds=", "seconds: cannot parse integer from empty string");
  await refused("seconds=0", "seconds: it must be from 1 to 300");
  await refused(`seconds=${"9".repeat(5000)}`, "seconds: it must be from 1 to 300");
  await refused("frequency=0", "frequency: it must be from 1 to 10000");
  await refused("frequency=-5", "frequency: invalid digit found in string");
  await refused("seconds=300&frequency=10000", "seconds × frequency: more than 100000 samples");
  await refused("output=svg", "output: unknown variant `svg`, expected one of `proto`, `text`, `flamegraph`");
  await refused("output=toString", "output: unknown variant `toString`, expected one of `proto`, `text`, `flamegraph`");
  await refused("seconds=1&seconds=2", "duplicate field `seconds`");
  expect((await ask("mem?output=svg"))[0]).toBe(400);
});

test("memory: counts, and bytes once activated", async () => {
  expect(await ask("mem/status", {})).toEqual([200, '{"active": false}']);
  expect((await ask("mem"))[1]).toStartWith("Memory by type; objects of types without their bytes");
  expect(await ask("mem/activate")).toEqual([200, "Heap profiling activated"]);
  expect(await ask("mem/status", {})).toEqual([200, '{"active": true}']);
  // The heap of a process that runs all tests may be too large for a snapshot, for which half a million objects are the limit; it may pass
  // that while it is asked.
  const { objectCount } = heapStats();
  const text = (await ask("mem", {}))[1];
  const refused = /cannot take a snapshot: the heap has (\d+) objects/.exec(text)?.[1];
  if (refused === undefined) expect(text).toStartWith("Memory by type: inuse_space in bytes");
  else expect(Number(refused)).toBeGreaterThan(500_000);
  if (objectCount < 400_000) expect(refused).toBeUndefined();
  if (objectCount > 600_000) expect(refused).toBeString();
  expect(await ask("mem/deactivate")).toEqual([200, "Heap profiling deactivated"]);
  expect((await ask("mem?output=flamegraph"))[1]).toContain("JavaScript heap");
  expect((await ask("mem?output=proto"))[1]).toContain("inuse_space");
  expect(await ask("mem/status", {})).toEqual([200, '{"active": false}']);
});

test("dumps of another allocator", async () => {
  const form = (body: string): RequestInit => ({ method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded" } });
  expect(await ask("mem/gdump", {})).toEqual([200, '{"active": false}']);
  expect(await ask("mem/gdump", form("activate=false"))).toEqual([200, "gdump deactivated"]);
  expect(await ask("mem/gdump", form("activate=true"))).toMatchObject([400, expect.stringContaining("no such dumps")]);
  expect((await ask("mem/gdump", form("a=b")))[0]).toBe(422);
  expect((await ask("mem/gdump", form("activate=false&activate=false")))[0]).toBe(422);
  expect((await ask("mem/gdump"))[0]).toBe(415);
  expect((await ask("mem/symbol", { method: "POST", body: "heap_v2/524288" }))[0]).toBe(400);
  expect((await ask("mem/nothing"))[0]).toBe(404);
});

test("only who may do everything takes profiles", async () => {
  const status = async (path: string, name?: string): Promise<number> => {
    const headers = name === undefined ? {} : { authorization: `Basic ${btoa(`${name}:pw`)}` };
    return (await fetch(`${guarded.url}/debug/prof/${path}`, { method: "POST", headers })).status;
  };
  for (const path of ["cpu?seconds=1", "mem", "mem/activate", "mem/symbol"]) {
    expect([path, await status(path), await status(path, "reader"), await status(path, "writer")]).toEqual([path, 401, 403, 403]);
  }
  expect(await status("mem", "all")).toBe(200);
});
