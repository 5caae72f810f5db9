/**
 * The dashboard in a real browser, beside a server with accounts: sign in, write, complete, query, chart, browse, traces, dry runs, kill,
 * in both themes and on a phone's width; no error in the console, nothing that axe-core finds, no text that becomes markup. Pictures go
 * to `VARVE_PICTURES` when that names a folder.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { TestServer } from "../support/server-process.ts";
import { hasChromium, type Page, withPage } from "./chromium.ts";
import { traceBody } from "./trace-body.ts";

const TIMEOUT_MS = 240_000;
const MARKUP = "<img src=x onerror=document.title='markup'>";
/** Longest that a script may hold the page while a long answer comes: 100 ms are wanted; a slow machine takes some times that. */
const TASK_MS_MAX = 1000;
/** What the policy says of styles that are none of the page's: axe looks by some, the browser types over a selection with some. */
const REFUSED_STYLE = "Applying inline style violates";
/** `bun run test:browser` uses every page; the gate signs in and asks a query. */
const isWhole = process.env["VARVE_BROWSER"] === "1";
const AUTHORIZATION = { authorization: `Basic ${btoa("reader:secret")}` };

if (!hasChromium) process.stderr.write("test/browser is skipped: there is no /usr/bin/chromium\n");

let server: TestServer;
beforeAll(async () => {
  if (!hasChromium) return;
  const folder = process.env["TMPDIR"] ?? "/tmp";
  const users = join(folder, `varve-dashboard-users-${process.pid}`);
  await Bun.write(users, "reader=secret\n");
  server = await TestServer.start({ config: `user_provider = "static_user_provider:file:${users}"\n` });
  const now = Date.now();
  const lines = Array.from({ length: 300 }, (_, i) => `cpu,host=h${i % 3} usage=${i % 100},text="${MARKUP}" ${now - i * 1000}`).join("\n");
  await sent("/v1/influxdb/write?precision=ms", { body: lines });
  const values = Array.from({ length: 30 }, (_, i) => [`${now - i * 60_000}000000`, i % 2 === 0 ? `disk full ${MARKUP}` : "all well"]);
  const logs = JSON.stringify({ streams: [{ stream: { app: "web" }, values }] });
  await sent("/v1/loki/api/v1/push", { body: logs, headers: { "content-type": "application/json" } });
  const headers = { "content-type": "application/x-protobuf", "x-greptime-pipeline-name": "greptime_trace_v1" };
  await sent("/v1/otlp/v1/traces", { body: traceBody(now, MARKUP), headers });
}, TIMEOUT_MS);
afterAll(async () => {
  if (hasChromium) await server.end();
});

/** A body and its headers. */
interface Sent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

async function sent(path: string, init: Sent): Promise<void> {
  const answer = await fetch(`${server.url}${path}`, { method: "POST", ...init, headers: { ...AUTHORIZATION, ...init.headers } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

const press = (label: string): string => `(() => {
  const found = [...document.querySelectorAll("button")].find((each) => each.textContent === ${JSON.stringify(label)});
  found?.click();
  return found !== undefined;
})()`;
const hasText = (text: string): string => `document.body.innerText.includes(${JSON.stringify(text)})`;

/** Opens a page of the dashboard, and signs in when it asks. */
async function go(page: Page, name: string): Promise<void> {
  await page.run(`location.hash = "#/${name}"`);
  await page.until(`document.querySelector("main")?.children.length > 0`);
}

async function signedIn(page: Page): Promise<void> {
  await page.open(`${server.url}/dashboard`);
  await page.until(`document.querySelector("dialog[open] input[type=password]") !== null`);
  await page.run(`document.querySelector("dialog input[name=username]").focus()`);
  await page.type("reader");
  await page.run(`document.querySelector("dialog input[type=password]").focus()`);
  await page.type("secret");
  await page.run(press("Sign in"));
  await page.until(`document.querySelector("dialog") === null && document.querySelector("header select") !== null`);
}

async function setQuery(page: Page, text: string): Promise<void> {
  await page.run(`document.querySelector(".query-page .cm-content").focus()`);
  await page.press("a", { ctrl: true });
  await page.type(text);
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["VARVE_PICTURES"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await Bun.write(join(folder, `${name}.png`), await page.picture());
}

/** What the console tells, but for the requests that asked for credentials and for styles that were refused. */
function problemsOf({ problems }: Page): readonly string[] {
  return problems.filter((problem) => !problem.includes("401") && !problem.includes(REFUSED_STYLE));
}

/** What axe-core finds wrong. */
async function axe(page: Page): Promise<readonly string[]> {
  const source = await Bun.file(createRequire(import.meta.url).resolve("axe-core/axe.min.js")).text();
  await page.run(source);
  const found = await page.run(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")))`);
  return found as readonly string[];
}

describe.skipIf(!hasChromium)("the dashboard", () => {
  test(
    "asks who one is, says when that is wrong, and then answers",
    async () => {
      await withPage("MAP nowhere.example 127.0.0.1", async (page) => {
        await page.open(`${server.url}/dashboard`);
        await page.until(`document.querySelector("dialog[open] input[type=password]") !== null`);
        await page.run(`document.querySelector("dialog input[name=username]").focus()`);
        await page.type("reader");
        await page.run(`document.querySelector("dialog input[type=password]").focus()`);
        await page.type("wrong");
        await page.run(press("Sign in"));
        await page.until(hasText("This name and password are not those of an account."));
        expect(await page.run("location.href.includes('wrong') || JSON.stringify(localStorage).includes('wrong')")).toBe(false);
      });
    },
    TIMEOUT_MS,
  );

  test(
    "queries, completes, marks errors, draws, keeps what was asked",
    async () => {
      await withPage("MAP nowhere.example 127.0.0.1", async (page) => {
        await signedIn(page);
        await setQuery(page, "SELECT ts2 FROM cpu");
        await page.press("Enter", { ctrl: true });
        await page.until(`document.querySelector(".problem") !== null && document.querySelector(".cm-lintRange-error") !== null`);
        await setQuery(page, "SELECT greptime_timestamp, host, usage, text FROM cpu ORDER BY greptime_timestamp");
        await page.press("Enter", { ctrl: true });
        await page.until(hasText("300 rows in"));
        await page.until(`document.querySelectorAll(".grid-row").length > 5`);
        expect(await page.run(hasText(MARKUP))).toBe(true);
        expect(await page.run("document.title === 'markup' || document.querySelector('main img') !== null")).toBe(false);
        await picture(page, "query-light");
        await page.run(press("Chart"));
        await page.until(`document.querySelector(".chart canvas") !== null`);
        await setQuery(page, "SELECT host FROM cp");
        await page.press(" ", { ctrl: true });
        await page.until(`document.querySelector(".cm-tooltip-autocomplete") !== null`);
        await page.press("Escape");
        await page.run(press("PromQL"));
        await setQuery(page, "cpu");
        await page.run(press("Run"));
        await page.until(`document.querySelector(".chart canvas") !== null || document.querySelector(".problem") !== null`);
        expect(await page.run(`document.querySelector(".problem")?.textContent ?? ""`)).toBe("");
        await page.run(press("History"));
        await page.until(`document.querySelectorAll(".history-item").length >= 2`);
        expect(problemsOf(page).filter((problem) => !problem.includes("400"))).toEqual([]);
        expect(await axe(page)).toEqual([]);
      });
    },
    TIMEOUT_MS,
  );

  test.skipIf(!isWhole)(
    "shows tables, logs, traces, dry runs, settings and the live server, in both themes and on a phone",
    async () => {
      await withPage("MAP nowhere.example 127.0.0.1", async (page) => {
        await signedIn(page);
        const looks = [
          ["light", 1280, false],
          ["dark", 1280, true],
          ["phone", 390, false],
        ] as const;
        for (const [look, width, dark] of looks) {
          await page.look(width, 844, dark);
          await go(page, "tables/cpu");
          await page.until(`${hasText("greptime_timestamp")} && document.querySelectorAll(".sample .grid-row").length > 5`);
          await picture(page, `tables-${look}`);
          expect([look, "tables", await axe(page)]).toEqual([look, "tables", []]);
          await go(page, "logs");
          await page.until(`document.querySelectorAll(".log-line").length > 20 && document.querySelector(".histogram canvas") !== null`);
          await picture(page, `logs-${look}`);
          expect([look, "logs", await axe(page)]).toEqual([look, "logs", []]);
          await go(page, "traces");
          await page.until(`document.querySelectorAll(".trace-list li").length === 3`);
          await page.run(`document.querySelector(".trace-list a").click()`);
          await page.until(`document.querySelectorAll(".span-line").length === 4`);
          await page.run(`document.querySelector(".span-line").click()`);
          await page.until(`document.querySelector(".span-detail dl") !== null`);
          await picture(page, `traces-${look}`);
          expect([look, "traces", await axe(page)]).toEqual([look, "traces", []]);
          await go(page, "ingest");
          await page.until(hasText("2 rows for 1 tables"));
          await page.run(press("Try"));
          await page.until(hasText("/index.html"));
          await picture(page, `ingest-${look}`);
          expect([look, "ingest", await axe(page)]).toEqual([look, "ingest", []]);
          await go(page, "live");
          await page.until(`document.querySelectorAll(".figure canvas").length === 10`);
          await picture(page, `live-${look}`);
          expect([look, "live", await axe(page)]).toEqual([look, "live", []]);
          await go(page, "cluster");
          await page.until(hasText("This server runs alone"));
          expect([look, "cluster", await axe(page)]).toEqual([look, "cluster", []]);
          await go(page, "settings");
          await page.until(hasText("data_home"));
          expect([look, "settings", await axe(page)]).toEqual([look, "settings", []]);
          expect(await page.run("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
        }
        expect(problemsOf(page)).toEqual([]);
      });
    },
    TIMEOUT_MS,
  );

  test.skipIf(!isWhole)(
    "writes lines, saves a panel and shows it, kills a statement",
    async () => {
      await withPage("MAP nowhere.example 127.0.0.1", async (page) => {
        await signedIn(page);
        await go(page, "ingest");
        await page.until(hasText("2 rows for 1 tables"));
        await page.run(press("Write"));
        await page.until(hasText("Written to public"));
        await go(page, "query/sql/SELECT%20count(*)%20AS%20weather_rows%20FROM%20weather");
        await page.until(hasText("weather_rows"));
        await page.run("window.prompt = () => 'the <b>weather</b>'");
        await page.run(press("Save as panel"));
        await Bun.sleep(300);
        await go(page, "panels");
        await page.until(`${hasText("the <b>weather</b>")} && document.querySelectorAll(".panel .grid-row").length === 1`);
        const slow = fetch(`${server.url}/v1/sql`, {
          method: "POST",
          headers: AUTHORIZATION,
          body: new URLSearchParams({
            sql: "SELECT count(*) FROM cpu a, cpu b, cpu c, cpu d WHERE a.usage + b.usage + c.usage + d.usage > 1e9",
          }),
        });
        await go(page, "live");
        await page.until(`[...document.querySelectorAll("button")].some((each) => each.textContent === "Kill")`);
        await page.run(press("Kill"));
        expect((await slow).ok).toBe(false);
        expect(problemsOf(page)).toEqual([]);
      });
    },
    TIMEOUT_MS,
  );

  test.skipIf(!isWhole)(
    "a million rows do not hold the page; the first paint is early",
    async () => {
      await withPage("MAP nowhere.example 127.0.0.1", async (page) => {
        await signedIn(page);
        const paint = await page.run(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`);
        await page.run(`window.longest = 0;
          const watch = new PerformanceObserver((list) => {
            for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
          });
          watch.observe({ entryTypes: ["longtask"] });
          const [limit] = document.querySelectorAll(".query-page select");
          limit.value = "";
          limit.dispatchEvent(new Event("change"));`);
        await setQuery(page, "SELECT value AS n, value * 2 AS twice, concat('row ', value) AS name FROM generate_series(1, 1000000)");
        await page.press("Enter", { ctrl: true });
        await page.until(hasText("1,000,000 rows in"), 120_000);
        await page.run(`document.querySelector(".grid").scrollTop = 1e9`);
        await page.until(hasText("row 1000000"), 20_000);
        const longest = Number(await page.run("window.longest"));
        process.stderr.write(
          `dashboard: first paint ${Math.round(Number(paint))} ms, longest task with 1,000,000 rows ${Math.round(longest)} ms\n`,
        );
        expect(longest).toBeLessThan(TASK_MS_MAX);
      });
    },
    TIMEOUT_MS,
  );
});
