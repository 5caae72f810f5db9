/** Dashboards over HTTP: saved, listed, replaced, removed, and there after a crash. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

async function ask(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<readonly [number, string]> {
  const response = await fetch(`${server.url}/v1/dashboards${path}`, { method, ...(body === undefined ? {} : { body }) });
  return [response.status, (await response.text()).replace(/"execution_time_ms":\d+/, '"execution_time_ms":N')];
}

const listed = (...dashboards: readonly object[]): readonly [number, string] => {
  return [200, `{"dashboards":${JSON.stringify(dashboards)},"execution_time_ms":N}`];
};

test("their life", async () => {
  expect(await ask("GET", "")).toEqual([...listed()]);
  expect(await ask("DELETE", "/none")).toEqual([...listed()]);
  const definition = '{"panels":[{"title":"it\'s \\"hot\\" 🔥"}]}';
  expect(await ask("POST", "/b%20o'b", definition)).toEqual([...listed({ name: "b o'b" })]);
  expect(await ask("POST", "/a", "first")).toEqual([...listed({ name: "a" })]);
  expect(await ask("POST", "/a", "second")).toEqual([...listed({ name: "a" })]);
  const both = listed({ name: "a", definition: "second" }, { name: "b o'b", definition });
  expect(await ask("GET", "")).toEqual([...both]);
  await server.kill();
  await server.restart();
  expect(await ask("GET", "")).toEqual([...both]);
  expect(await ask("DELETE", "/a")).toEqual([...listed({ name: "a" })]);
  expect(await ask("DELETE", "/a")).toEqual([...listed()]);
  expect(await ask("GET", "")).toEqual([...listed({ name: "b o'b", definition })]);
  expect(await ask("POST", "/a", "third")).toEqual([...listed({ name: "a" })]);
  expect(await ask("GET", "")).toEqual([...listed({ name: "a", definition: "third" }, { name: "b o'b", definition })]);
});

test("saved at once under one name, one stays", async () => {
  await Promise.all(Array.from({ length: 8 }, (_, i) => ask("POST", "/same", `v${i}`)));
  const [, text] = await ask("GET", "");
  expect(text.match(/"name":"same"/g)?.length).toBe(1);
  expect(await ask("DELETE", "/same")).toEqual([...listed({ name: "same" })]);
});

test("bodies unfold, and what is no definition is refused", async () => {
  const headers = { "content-encoding": "gzip" };
  const response = await fetch(`${server.url}/v1/dashboards/packed`, {
    method: "POST",
    headers,
    body: Bun.gzipSync(Buffer.from("packed")),
  });
  expect(response.status).toBe(200);
  expect((await ask("GET", ""))[1]).toContain('{"name":"packed","definition":"packed"}');
  const refused = async (path: string, body: string | Uint8Array<ArrayBuffer>, status: number, text: string): Promise<void> => {
    const [got, answer] = await ask("POST", path, body);
    expect([got, answer]).toEqual([status, expect.stringContaining(text)]);
  };
  await refused("/x", "", 400, "is required in body");
  await refused("/x", Uint8Array.of(0xff, 0xfe), 400, "is not UTF-8");
  await refused("/x", "x".repeat(4 * 1024 * 1024 + 1), 413, "length limit exceeded");
  await refused(`/${"x".repeat(256)}`, "d", 400, "must have 1 to 255 characters");
  await refused(`/${"x".repeat(8192)}`, "d", 400, "must have 1 to 255 characters");
  await refused("/a%0Ab", "d", 400, "cannot hold control characters");
  await refused("/%ff", "d", 400, "is not percent-encoded UTF-8");
  expect((await ask("GET", "/x"))[0]).toBe(405);
  expect((await ask("POST", "", "d"))[0]).toBe(405);
  expect((await ask("POST", "/", "d"))[0]).toBe(404);
});
