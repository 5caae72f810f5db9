import { afterAll, expect, test } from "bun:test";
import { startFixture } from "../../../../../test/support/http-fixture.ts";

const { server, url, db } = await startFixture();
afterAll(() => server.stop(50));

async function store(name: string, prefix = "pipelines"): Promise<readonly [number, string]> {
  const init = { method: "POST", body: "transform: []", headers: { "content-type": "application/x-yaml" } };
  const response = await fetch(`${url}/v1/${prefix}/${name}`, init);
  return [response.status, await response.text()];
}

test("names that are in the way of paths, or cannot be shown, are refused", async () => {
  const refused = async (name: string, why: string, prefix?: string): Promise<void> => {
    const text = JSON.stringify({ error: `Invalid request parameter: pipeline_name ${why}` });
    expect([name, ...(await store(name, prefix))]).toEqual([name, 400, text]);
  };
  await refused("greptime_x", "cannot start with greptime_");
  await refused("x".repeat(256), "must have 1 to 255 characters");
  await refused("a%2Fb", "cannot hold / or \\, nor be . or ..");
  await refused("a%5Cb", "cannot hold / or \\, nor be . or ..");
  for (const name of ["a%0Ab", "a%00", "a%E2%80%AEb", "%20a", "a%20"])
    await refused(name, "cannot hold control characters, nor begin or end with blanks");
  expect(db.writes).toEqual([]);
});
