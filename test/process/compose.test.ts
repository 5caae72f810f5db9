/**
 * `deploy/compose.yaml`, its files and `varve.service` are what they say: every image is pinned and every file that is mounted exists;
 * settings are keys of ours with values that they take; every address leads to a port and a path that a server answers.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse as parseToml } from "smol-toml";
import { loadSettings } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/settings.ts";
import { START_FLAGS } from "../../src/config/start-flags.ts";
import { TestServer } from "../support/server-process.ts";

const ROOT = resolve(import.meta.dir, "../..");
const DEPLOY = join(ROOT, "deploy");
const read = (path: string): string => readFileSync(join(DEPLOY, path), "utf8");

interface Service {
  readonly build?: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}
const compose = Bun.YAML.parse(read("compose.yaml")) as Compose;
const { varve, ...others } = compose.services;
if (varve === undefined) throw new Error("compose.yaml has no service varve");

/** What the container's environment comes to; the image sets the same address and folder. */
function settingsIn(environment: Readonly<Record<string, string>>): Settings {
  const startup = loadSettings({ argv: [], env: environment, readFile: () => new Uint8Array() });
  if (startup.kind !== "start") throw new Error(`not a start: ${startup.kind}`);
  expect(startup.warnings).toEqual([]); // Unknown keys and those without effect.
  return startup.settings;
}
const settings = settingsIn(varve.environment ?? {});
const portsOf = { http: settings.http.addr, grpc: settings.grpc.addr, mysql: settings.mysql.addr, postgres: settings.postgres.addr };

describe("compose.yaml", () => {
  test("pins every image but the one that it builds", () => {
    expect([varve.image, varve.build]).toEqual(["varve", ".."]);
    expect(existsSync(join(DEPLOY, "..", "Dockerfile"))).toBe(true);
    for (const { image, build } of Object.values(others))
      expect([image, build]).toEqual([expect.stringMatching(/:v?\d+\.\d+\.\d+$/), undefined]);
  });

  test("opens ports to this machine alone, and those of Varve are the ones it listens on", () => {
    for (const { ports = [] } of Object.values(compose.services)) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
    expect(Object.values(portsOf).map(({ host }) => host)).toEqual(Array.from({ length: 4 }, () => "0.0.0.0"));
    expect(varve.ports).toEqual(Object.values(portsOf).map(({ port }) => `127.0.0.1:${port}:${port}`));
  });

  test("mounts what is there, and names of volumes that it declares", () => {
    const named: string[] = [];
    for (const { volumes = [] } of Object.values(compose.services)) {
      for (const volume of volumes) {
        const [source = ""] = volume.split(":");
        if (source.startsWith("./")) expect([volume, existsSync(join(DEPLOY, source))]).toEqual([expect.stringMatching(/:ro$/), true]);
        else named.push(source);
      }
    }
    expect(named.sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(varve.volumes).toEqual([`varve:${settings.storage.dataHome}`]);
  });

  test("starts the others once Varve is healthy, with a file that is mounted", () => {
    for (const [name, { depends_on, volumes = [], command = [] }] of Object.entries(others)) {
      expect(depends_on).toEqual({ varve: { condition: "service_healthy" } });
      const [config] = /\/etc\/\S+\.(?:toml|ya?ml)/.exec(command.join(" ")) ?? [];
      const isMounted = volumes.some((volume) => config?.startsWith(volume.split(":")[1] ?? "-"));
      expect([name, isMounted]).toEqual([name, name !== "grafana"]);
    }
  });
});

/** An address of Varve in one of the files. */
interface Named {
  readonly file: string;
  readonly protocol: string;
  readonly port: string;
  readonly path: string;
}

function addressesIn(file: string): readonly Named[] {
  const found = read(file).matchAll(/^[^#\n]*?["' ](?:(\w+):\/\/)?varve:(\d+)([\w/.-]*)/gm);
  return [...found].map(([, protocol = "", port = "", path = ""]) => ({ file, protocol, port, path }));
}

describe("the others", () => {
  const SOURCES = "grafana/provisioning/datasources/varve.yaml";
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  }, 30_000);
  afterAll(() => server.end());

  test("are given ports that Varve listens on, with paths that it serves", async () => {
    const named = ["telegraf/telegraf.toml", "prometheus/prometheus.yml", "otel-collector/config.yaml", SOURCES].flatMap(addressesIn);
    expect(named.map(({ file }) => file.split("/")[0])).toEqual([
      "telegraf",
      "prometheus",
      "prometheus",
      "prometheus",
      "otel-collector",
      "grafana",
      "grafana",
      "grafana",
      "grafana",
    ]);
    /** What a client asks below an address that it is given. */
    const below: Readonly<Record<string, string>> = {
      "/v1/influxdb": "/write",
      "/v1/otlp": "/v1/metrics",
      "/v1/jaeger": "/api/services",
      "/v1/prometheus": "/api/v1/status/buildinfo",
      "": "/metrics",
    };
    for (const { file, protocol, port, path } of named) {
      expect([file, Object.values(portsOf).map((address) => String(address.port))]).toEqual([file, expect.arrayContaining([port])]);
      if (port !== String(portsOf.http.port)) continue;
      expect([file, path, protocol]).toEqual([file, path, path === "" ? "" : "http"]);
      const { status } = await fetch(`${server.url}${path}${below[path] ?? ""}`);
      expect([file, path, [200, 400, 405].includes(status)]).toEqual([file, path, true]);
    }
  });

  test("Telegraf writes lines to a database that it makes itself", async () => {
    const { outputs, inputs } = parseToml(read("telegraf/telegraf.toml")) as unknown as {
      readonly outputs: { readonly influxdb: readonly [{ readonly urls: readonly string[]; readonly database: string }] };
      readonly inputs: Readonly<Record<string, unknown>>;
    };
    expect(Object.keys(inputs).length).toBeGreaterThan(0);
    const [{ urls, database }] = outputs.influxdb;
    const base = (urls[0] ?? "").replace("http://varve:4000", server.url);
    expect(
      (await fetch(`${base}/query`, { method: "POST", body: new URLSearchParams({ q: `CREATE DATABASE "${database}"` }) })).status,
    ).toBe(200);
    expect(
      (
        await fetch(`${base}/write?db=${database}`, {
          method: "POST",
          body: Bun.gzipSync("cpu usage=1"),
          headers: { "content-encoding": "gzip" },
        })
      ).status,
    ).toBe(204);
  });

  test("the Collector's pipelines name what is configured", () => {
    type Parts = Readonly<Record<string, unknown>>;
    const config = Bun.YAML.parse(read("otel-collector/config.yaml")) as {
      readonly receivers: Parts;
      readonly processors: Parts;
      readonly exporters: Readonly<Record<string, { readonly endpoint: string; readonly headers: Readonly<Record<string, string>> }>>;
      readonly service: {
        readonly pipelines: Readonly<Record<string, Readonly<Record<"receivers" | "processors" | "exporters", readonly string[]>>>>;
      };
    };
    expect(Object.keys(config.service.pipelines).sort()).toEqual(["logs", "metrics", "traces"]);
    for (const pipeline of Object.values(config.service.pipelines)) {
      for (const part of ["receivers", "processors", "exporters"] as const) {
        expect(Object.keys(config[part])).toEqual(expect.arrayContaining([...pipeline[part]]));
      }
    }
    expect(Object.keys(config.exporters["otlphttp"]?.headers ?? {})).toEqual(["x-greptime-db-name"]);
  });

  test("Prometheus reads rules of its folder, and writes and reads one database", () => {
    const config = Bun.YAML.parse(read("prometheus/prometheus.yml")) as {
      readonly rule_files: readonly string[];
      readonly remote_write: readonly [{ readonly url: string; readonly protobuf_message: string }];
      readonly remote_read: readonly [{ readonly url: string }];
    };
    expect(config.rule_files).toEqual(["/etc/varve/*.rules.yml"]);
    expect(config.remote_write[0].protobuf_message).toBe("io.prometheus.write.v2.Request");
    expect(new URL(config.remote_write[0].url).search).toBe(new URL(config.remote_read[0].url).search);
  });

  test("Grafana has a source of each kind that Varve answers", () => {
    const { datasources } = Bun.YAML.parse(read(SOURCES)) as {
      readonly datasources: readonly { readonly type: string; readonly url: string; readonly uid: string; readonly isDefault?: boolean }[];
    };
    expect(datasources.map(({ type, url }) => [type, url])).toEqual([
      ["prometheus", `http://varve:${portsOf.http.port}/v1/prometheus`],
      ["grafana-postgresql-datasource", `varve:${portsOf.postgres.port}`],
      ["mysql", `varve:${portsOf.mysql.port}`],
      ["jaeger", `http://varve:${portsOf.http.port}/v1/jaeger`],
    ]);
    expect(new Set(datasources.map(({ uid }) => uid)).size).toBe(datasources.length);
    expect(datasources.filter(({ isDefault }) => isDefault === true).length).toBe(1);
    const { providers } = Bun.YAML.parse(read("grafana/provisioning/dashboards/varve.yaml")) as {
      readonly providers: readonly [{ readonly options: { readonly path: string } }];
    };
    expect(compose.services["grafana"]?.volumes).toContain(`./grafana:${providers[0].options.path}:ro`);
  });
});

describe("varve.service", () => {
  const unit = read("varve.service");
  const entries = unit
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const entry = (key: string): string | undefined => entries.find(([name]) => name === key)?.[1];

  test("starts the server by flags that it knows, with data in its own folder", () => {
    const [program, ...words] = (entry("ExecStart") ?? "").split(" ");
    expect(program).toBe("/usr/local/bin/varve");
    const flags = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
    expect(START_FLAGS.map(({ name }) => name)).toEqual(expect.arrayContaining(flags));
    expect(words[words.indexOf("--data-home") + 1]).toBe(`/var/lib/${entry("StateDirectory")}`);
    expect(words[words.indexOf("--config-file") + 1]).toBe(`/etc/${entry("ConfigurationDirectory")}/varve.toml`);
  });

  test("waits until it listens, has descriptors, and may compile", () => {
    expect([entry("Type"), entry("NotifyAccess"), entry("Restart")]).toEqual(["notify", "main", "on-failure"]);
    expect(Number(entry("LimitNOFILE"))).toBeGreaterThanOrEqual(65_536);
    expect(entry("MemoryDenyWriteExecute")).toBeUndefined();
    expect(new Set(entries.map(([name]) => name)).size).toBe(entries.length);
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("has no line that systemd does not know", () => {
    const { stderr } = Bun.spawnSync(["systemd-analyze", "verify", join(DEPLOY, "varve.service")], { stderr: "pipe" });
    const said = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("varve.service") && !line.includes("is not executable"));
    expect(said).toEqual([]);
  });
});

const hasDocker = Bun.which("docker") !== null && Bun.spawnSync(["docker", "info"], { timeout: 5000 }).success;
/** It fetches two images and all packages. */
const IMAGE_MS_MAX = 600_000;
test.skipIf(!hasDocker)(
  "the image is built, and starts (where Docker runs)",
  () => {
    const built = Bun.spawnSync(["docker", "build", "-q", ROOT], { stdout: "pipe", stderr: "pipe" });
    expect([built.exitCode, built.stderr.toString()]).toEqual([0, ""]);
    const ran = Bun.spawnSync(["docker", "run", "--rm", built.stdout.toString().trim(), "--version"]);
    expect(ran.stdout.toString()).toStartWith("varve\n");
  },
  IMAGE_MS_MAX,
);
