/** The dashboard's page and files. */
import { afterAll, describe, expect, test } from "bun:test";
import { startFixture } from "../../../../test/support/http-fixture.ts";

const fixture = await startFixture();
afterAll(() => fixture.server.stop(0));
const page = await fetch(`${fixture.url}/dashboard`);
const html = await page.text();

describe("the page", () => {
  test("has a policy with a nonce of its own each time, and is not kept", async () => {
    const again = await fetch(`${fixture.url}/dashboard`);
    const nonces = [page, again].map(({ headers }) => /'nonce-([^']+)'/.exec(headers.get("content-security-policy") ?? "")?.[1]);
    expect(nonces[0]).not.toBe(nonces[1]);
    expect(html).toContain(`content="${nonces[0]}"`);
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(html).not.toMatch(/https?:\/\//);
  });

  test("also by POST; with a slash it is elsewhere", async () => {
    expect((await fetch(`${fixture.url}/dashboard`, { method: "POST" })).status).toBe(200);
    const moved = await fetch(`${fixture.url}/dashboard/`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/dashboard"]);
  });
});

describe("files", () => {
  const names = [...html.matchAll(/\/dashboard\/assets\/[\w.-]+/g)].map(([path]) => path);

  test("all that the page names are there, in each encoding, and never change", async () => {
    expect(names.length).toBeGreaterThanOrEqual(4);
    for (const name of names) {
      const bodies = new Set<string>();
      for (const encoding of ["br", "gzip", "identity"]) {
        const answer = await fetch(`${fixture.url}${name}`, { headers: { "accept-encoding": encoding } });
        expect([name, answer.status, answer.headers.get("content-encoding")]).toEqual([
          name,
          200,
          encoding === "identity" ? null : encoding,
        ]);
        expect(answer.headers.get("cache-control")).toContain("immutable");
        bodies.add(await answer.text());
      }
      expect(bodies.size).toBe(1);
    }
  });

  test("the script is at most 400 kB compressed", async () => {
    const script = names.find((name) => name.includes("/main-") && name.endsWith(".js")) ?? "";
    const answer = await fetch(`${fixture.url}${script}`, { headers: { "accept-encoding": "gzip" }, decompress: false });
    expect((await answer.bytes()).length).toBeLessThan(400_000);
  });

  test("others are not found", async () => {
    for (const name of ["index.html", "..%2Findex.html", "main.js", ".hidden", "x".repeat(8000)]) {
      expect((await fetch(`${fixture.url}/dashboard/assets/${name}`)).status).toBe(404);
    }
  });
});
