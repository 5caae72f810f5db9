/**
 * What `docs/` says is so: its commands run against one real server and answer as printed (`…` stands for anything), its settings, paths,
 * files and links exist.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { referencePages } from "../bin/write-reference.ts";
import { KNOB_OF_KEY, KNOBS } from "../src/config/knobs.ts";
import { IN_CLUSTER } from "./support/cluster/standalone.ts";
import { blocksOf, settled, stopsOf } from "./support/document-blocks.ts";
import { TestServer, temporaryFolder } from "./support/server-process.ts";
import { ROOT } from "./tidy/source-tree.ts";

const START_MS_MAX = 30_000;
/** All commands of one page. */
const PAGE_MS_MAX = 60_000;
/** Clients that are tried where they are installed. */
const CLIENTS: readonly string[] = ["mariadb", "psql"];
/** Commands that a cluster has in another form, with a configuration file. */
const OF_A_FOLDER = /^varve (?:backup|check|restore) /;
const pages = readdirSync(join(ROOT, "docs"))
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(ROOT, "docs", name), "utf8") }));
const toured = pages.map(({ name, text }) => ({ name, stops: stopsOf(blocksOf(text)) })).filter(({ stops }) => stops.length > 0);

/** What is printed where a page shows this. */
function pattern(shown: string): RegExp {
  return new RegExp(
    `^${shown
      .split("…")
      .map((part) => RegExp.escape(part))
      .join("[^]*")}$`,
  );
}

describe.skipIf(Bun.which("curl") === null || Bun.which("bash") === null)("commands of", () => {
  let server: TestServer;
  /** Where commands run: it has the command `varve`, and goes with what they make. */
  let place = "";
  beforeAll(async () => {
    place = await temporaryFolder();
    await Bun.write(join(place, "bin/varve"), `#!/bin/sh\nexec '${process.execPath}' run '${join(ROOT, "src/main.ts")}' "$@"\n`);
    chmodSync(join(place, "bin/varve"), 0o755);
    server = await TestServer.start({ config: '[opentsdb]\naddr = "127.0.0.1:0"\n' });
  }, START_MS_MAX);
  afterAll(async () => {
    await server.end();
    await rm(place, { recursive: true, force: true });
  });

  /** A command for this server: pages have the ports that it has by default. */
  async function placed(command: string): Promise<string> {
    const portOf = (address: string): string => address.slice(address.lastIndexOf(":") + 1);
    const ports: Readonly<Record<string, string>> = {
      4000: portOf(server.url),
      4001: portOf(server.grpcAddress),
      4002: portOf(server.mysqlAddress),
      4003: portOf(server.postgresAddress),
      4242: String(await server.telnetPort()),
    };
    return command.replaceAll(/\b(?:400[0-3]|4242)\b/g, (port) => ports[port] ?? port);
  }

  test.each(toured)(
    "$name",
    async ({ stops }) => {
      for (const { language, command, shown } of stops) {
        if (CLIENTS.some((client) => command.startsWith(`${client} `) && Bun.which(client) === null)) continue;
        if (IN_CLUSTER && OF_A_FOLDER.test(command)) continue;
        const text = await placed(command);
        const run =
          language === "sh"
            ? Bun.spawnSync(["bash", "-c", text], { cwd: place, env: { ...process.env, PATH: `${place}/bin:${process.env["PATH"]}` } })
            : Bun.spawnSync([process.execPath, "-e", text], { cwd: ROOT });
        expect([command, run.exitCode, run.stderr.toString()]).toEqual([command, 0, ""]);
        const printed = settled(run.stdout.toString());
        if (shown !== undefined && !pattern(settled(shown)).test(printed)) expect(printed, command).toBe(settled(shown));
      }
    },
    PAGE_MS_MAX,
  );

  test("end with a sound server", async () => {
    const { status, stderr } = await server.stop();
    expect(status).toBe(0);
    expect(stderr).not.toContain('"level":"error"');
  });

  test("paths that pages name are served", async () => {
    await server.restart();
    const named = pages.flatMap(({ name, text }) =>
      [...text.matchAll(/[`'" 0](\/v1\/[\w/.-]*\w)/g)].map(([, path = ""]) => ({ name, path })),
    );
    expect(named.length).toBeGreaterThan(30);
    const missing: string[] = [];
    const known = new Map<string, boolean>();
    for (const { name, path } of named) {
      if (!known.has(path)) known.set(path, await isServed(path));
      if (known.get(path) === false) missing.push(`${name}: ${path}`);
    }
    expect(missing).toEqual([]);
  });

  /** Whether a path, or one below it, is there: 405 and refusals of what is sent say so, too. */
  async function isServed(path: string): Promise<boolean> {
    for (const method of ["GET", "POST"]) {
      const reply = await fetch(server.url + path, { method, redirect: "manual" });
      if (reply.status !== 404 || (await reply.text()) !== "") return true;
    }
    return PREFIXES.has(path);
  }
});

/** Paths that stand for those below them: clients are given them as base addresses. */
const PREFIXES: ReadonlySet<string> = new Set([
  "/v1/influxdb",
  "/v1/prometheus",
  "/v1/prometheus/api/v1",
  "/v1/otlp",
  "/v1/loki",
  "/v1/opentsdb",
  "/v1/jaeger",
  "/v1/splunk",
  "/v1/pipelines",
]);

test.each(Object.entries(referencePages()))("%s is up to date; if not, run bin/write-reference.ts", (name, text) => {
  expect(pages.find((page) => page.name === name)?.text).toBe(text);
});

test("settings that pages name exist", () => {
  const sections = Object.keys(KNOBS);
  const isFile = (word: string): boolean => /\.(?:toml|md|ts|yaml|yml|json|py|txt)$/.test(word);
  for (const { name, text } of pages) {
    const words = [...text.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)].map(([, word = ""]) => word);
    const named = words.filter((word) => sections.includes(word.split(".")[0] ?? "") && !isFile(word));
    expect([name, named.filter((key) => !KNOB_OF_KEY.has(key))]).toEqual([name, []]);
  }
});

test("every figure of the comparison stands in the results that its row names", () => {
  const text = pages.find(({ name }) => name === "comparison.md")?.text ?? "";
  const rows = text.split("\n").filter((line) => line.includes("bench/results/") && line.startsWith("| "));
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const [, link = ""] = /\]\(([^)]+)\)/.exec(row) ?? [];
    const results = readFileSync(join(ROOT, "docs", link), "utf8");
    const figures = [...row.matchAll(/`([\d.,]+)`/g)].map(([, figure = ""]) => figure);
    expect(figures.length).toBeGreaterThan(0);
    expect([row, figures.filter((figure) => !new RegExp(`(?<![\\d.,])${RegExp.escape(figure)}(?![\\d,]|\\.\\d)`).test(results))]).toEqual([
      row,
      [],
    ]);
  }
});

test("files that pages link to exist, and the README leads to every page", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(pages.map(({ name }) => name).filter((name) => !readme.includes(`(docs/${name})`))).toEqual([]);
  for (const { name, text } of pages) {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    expect([name, links.filter((link) => !existsSync(join(ROOT, dirname(`docs/${name}`), link)))]).toEqual([name, []]);
  }
});
