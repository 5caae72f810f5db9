/** `deploy/varve.toml` is what `bin/write-example-config.ts` makes, shows every key with its default, and a server starts with it. */
import { afterAll, expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { exampleConfig } from "../../bin/write-example-config.ts";
import { ALL_KNOBS } from "../../src/config/knobs.ts";
import { loadSettings, type Start } from "../../src/config/load.ts";
import { TestServer } from "../support/server-process.ts";

const ROOT = resolve(import.meta.dir, "../..");
const text = await Bun.file(join(ROOT, "deploy/varve.toml")).text();
const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.end();
});

function settingsOf(file: string): Start {
  const readFile = (): Uint8Array => new TextEncoder().encode(file);
  const startup = loadSettings({ argv: ["--config-file", "varve.toml"], env: {}, readFile });
  if (startup.kind !== "start") throw new Error(`not a start: ${startup.kind}`);
  return startup;
}

test("it is up to date; if not, run bin/write-example-config.ts", () => {
  expect(text).toBe(exampleConfig());
});

test("it sets nothing, and has every key", () => {
  expect(settingsOf(text)).toEqual(settingsOf(""));
  const keys: string[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section;
    const key = /^#([\w.]+) = /.exec(line)?.[1];
    if (key !== undefined) keys.push(section === "" ? key : `${section}.${key}`);
  }
  expect(keys).toEqual(ALL_KNOBS.map(({ key }) => key));
});

test("what it shows are the defaults, but for examples", () => {
  const examples = /Not set by default; an example:\n#.*/g;
  const open = (file: string): string => file.replaceAll(/^#([\w.]+ = )/gm, "$1");
  const shown = settingsOf(open(text.replaceAll(examples, "")));
  expect(shown.settings).toEqual(settingsOf("").settings);
  expect(shown.warnings).toEqual([
    expect.stringContaining("`init_regions_parallelism` in varve.toml has no effect"),
    expect.stringContaining('has no effect: `wal.sync` is "always", not "interval"'),
  ]);
  expect(text.match(examples)?.length).toBe(ALL_KNOBS.filter((knob) => knob.default === undefined).length);
  expect(settingsOf(open(text).replace(/^user_provider/m, "# "))).toMatchObject({
    settings: { general: { defaultTimezone: "Europe/Berlin" }, opentsdb: { addr: { port: 4242 } }, query: { workers: 2 } },
  });
});

test("a server starts with it as without", async () => {
  const shown: string[] = [];
  for (const config of [text, ""]) {
    const server = await TestServer.start({ config });
    servers.push(server);
    const settings = (await (await fetch(`${server.processUrl}/config`)).text()).replaceAll(server.folder, "/folder");
    shown.push(settings.replaceAll(/(servers|monitors) = \[.*\]/g, "$1")); // A cluster has a NATS of its own.
    expect((await server.stop()).stderr).not.toContain('"level":"warn"');
  }
  expect(shown[0]).toBe(shown[1]);
});
