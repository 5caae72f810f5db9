import { expect, test } from "bun:test";
import { BrowserGuard, type BrowserGuardOptions, type BrowserVerdict } from "./browser-guard.ts";

const LOCAL: BrowserGuardOptions = { hostname: "127.0.0.1", allowedHosts: [], origins: [] };
const OPEN: BrowserGuardOptions = { ...LOCAL, hostname: "0.0.0.0" };

function judge(headers: Readonly<Record<string, string>>, options: BrowserGuardOptions = LOCAL, target = "POST /v1/sql"): BrowserVerdict {
  const [method = "", path = ""] = target.split(" ");
  return new BrowserGuard(options).judge(method, path, new Headers({ host: "127.0.0.1:4000", ...headers }));
}

function check(isServed: boolean, headers: Readonly<Record<string, string>>, options?: BrowserGuardOptions, target?: string): void {
  const verdict = judge(headers, options, target);
  expect([headers, target, typeof verdict === "string" ? verdict : "refused"]).toEqual([headers, target, isServed ? "served" : "refused"]);
}

test("what is no browser is served", () => {
  check(true, {});
  check(true, { "user-agent": "curl/8.5" });
  check(true, { "user-agent": "Grafana/11" });
  check(true, { "user-agent": "Mozilla/5.0 WindowsPowerShell/5.1" });
  check(true, { host: "" }); // HTTP/1.0
  expect(new BrowserGuard(LOCAL).judge("GET", "/v1/sql", new Headers())).toBe("served");
});

test("pages of the server itself, and what is typed, are served", () => {
  check(true, { "sec-fetch-site": "same-origin", origin: "http://127.0.0.1:4000" });
  check(true, { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, LOCAL, "GET /v1/sql");
  check(true, { origin: "http://127.0.0.1:4000" });
  check(true, { origin: "https://db.example", host: "db.example" }, OPEN); // behind a proxy that ends TLS
  check(true, { origin: "http://db.example", host: "db.example:80" }, OPEN);
});

test("pages of other sites are refused", () => {
  check(false, { "sec-fetch-site": "cross-site" });
  check(false, { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:8080" });
  check(false, { "sec-fetch-site": "cross-site" }, LOCAL, "GET /health");
  check(false, { "sec-fetch-site": "anything" });
  check(false, { origin: "http://evil.example" });
  check(false, { origin: "http://127.0.0.1:8080" });
  check(false, { origin: "null" });
  check(false, { origin: "" });
  check(false, { origin: "file://127.0.0.1:4000" });
  check(false, { origin: "http://evil.example", "user-agent": "curl/8.5" });
});

test("a link opens pages that change nothing, and none of the interface", () => {
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  for (const path of ["/", "/health", "/dashboard", "/config"]) check(true, link, LOCAL, `GET ${path}`);
  for (const path of ["/v1/sql", "/v1/influxdb/query", "/debug/log_level"]) check(false, link, LOCAL, `GET ${path}`);
  check(false, link, LOCAL, "POST /");
  check(false, { ...link, "sec-fetch-dest": "iframe" }, LOCAL, "GET /");
});

test("origins that are listed are served, and a star serves all", () => {
  const listed = { ...LOCAL, origins: ["https://grafana.example"] };
  check(true, { "sec-fetch-site": "cross-site", origin: "https://grafana.example" }, listed);
  check(false, { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, listed);
  check(true, { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, { ...LOCAL, origins: ["*"] });
  check(true, { "sec-fetch-site": "cross-site" }, { ...LOCAL, origins: ["*"] }, "GET /v1/sql");
});

test("a listener on loopback answers under loopback names alone, and those allowed", () => {
  for (const host of ["localhost", "LOCALHOST:4000", "localhost.:4000", "127.0.0.1", "127.9.9.9:1", "[::1]:4000"]) check(true, { host });
  for (const host of ["evil.example:4000", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "a:b:c", "[::2]"])
    check(false, { host });
  check(true, { host: "db.local:4000" }, { ...LOCAL, allowedHosts: ["DB.local"] });
  check(true, { host: "db.local:4000" }, { ...LOCAL, allowedHosts: ["db.local:4000"] });
  check(false, { host: "db.local:4001" }, { ...LOCAL, allowedHosts: ["db.local:4000"] });
  // A foreign name that points here has pages of "its own origin".
  check(false, { host: "evil.example:4000", origin: "http://evil.example:4000", "sec-fetch-site": "same-origin" });
});

test("another listener answers under any name, or those allowed and addresses", () => {
  for (const host of ["db.example:4000", "10.0.0.1:4000", "localhost"]) check(true, { host }, OPEN);
  const named = { ...OPEN, allowedHosts: ["db.example"] };
  for (const host of ["db.example:4000", "10.0.0.1:4000", "[fd00::1]:4000", "localhost"]) check(true, { host }, named);
  check(false, { host: "evil.example:4000" }, named);
});

test("a refusal says which setting decides, and repeats little", () => {
  expect(judge({ "sec-fetch-site": "cross-site" })).toEqual({
    refused: "cannot serve pages of other sites: other sites' pages are served only where http.cors_allowed_origins names their origin",
  });
  const why = "this listener is for this machine alone, and takes localhost, loopback addresses and the names in http.allowed_hosts";
  const refused = `cannot answer under the name "${"x".repeat(80)}": ${why}`;
  expect(judge({ host: `${"x".repeat(500)}.evil` })).toEqual({ refused });
});
