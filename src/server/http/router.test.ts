import { expect, test } from "bun:test";
import { splitUrl } from "./exchange.ts";
import { NO_CONTENT } from "./reply.ts";
import { Router } from "./router.ts";

const get = { GET: () => NO_CONTENT };
const router = new Router([
  { path: "/v1/pipelines/dryrun", methods: { POST: () => NO_CONTENT }, errors: "plain" },
  { path: "/v1/pipelines/{name}", methods: get, errors: "plain" },
  { path: "/v1/pipelines/{name}/ddl", methods: get, errors: "plain" },
]);

/** Finds a path and compares the route's template, or the status of the refusal. */
function check(method: string, path: string, want: string | number): void {
  const found = router.find(method, path);
  expect(found.kind === "handler" ? found.route.path : found.reply.status).toBe(want);
}

test("a template matches one segment that is not empty; an exact path wins over it", () => {
  check("GET", "/v1/pipelines/a", "/v1/pipelines/{name}");
  check("HEAD", "/v1/pipelines/a", "/v1/pipelines/{name}");
  check("GET", "/v1/pipelines/a/ddl", "/v1/pipelines/{name}/ddl");
  check("POST", "/v1/pipelines/dryrun", "/v1/pipelines/dryrun");
});

test("other paths are 404, other methods 405", () => {
  for (const path of ["/v1/pipelines", "/v1/pipelines/", "/v1/pipelines/a/", "/v1/pipelines/a/b", "/v2/pipelines/a"])
    check("GET", path, 404);
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "TRACE", "constructor"]) check(method, "/v1/pipelines/a", 405);
  check("GET", "/v1/pipelines/dryrun", 405);
});

test("URLs are split into path and raw query", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["http://h:1/a/b?x=1&y=%20", "/a/b", "x=1&y=%20"],
    ["http://h/a", "/a", ""],
    ["http://h/a?", "/a", ""],
    ["http://h/a?b#c", "/a", "b"],
    ["http://h/a#c?d", "/a", ""],
    ["http://h", "/", ""],
    ["http://[::1]:4000/a?b=/c?d", "/a", "b=/c?d"],
  ];
  for (const [url, path, query] of cases) expect(splitUrl(url)).toEqual([path, query]);
});
