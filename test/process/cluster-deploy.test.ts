/**
 * `deploy/cluster/` is what it says: images are pinned, files that are mounted exist, settings are keys of ours with values that their
 * role takes without a word, secrets have names that are given, and both configurations of NATS have the permissions of the code.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { NATS_PERMISSIONS, type NatsRole, permissionsBlock } from "../../src/cluster/nats/permissions.ts";
import { readFlags } from "../../src/config/flag.ts";
import { loadSettings } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/settings.ts";
import { FLAGS_OF } from "../../src/config/start-flags.ts";
import { parsePromql } from "../../src/query/promql/syntax/parse.ts";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";

const DEPLOY = resolve(import.meta.dir, "../../deploy/cluster");
const SECRET = "s0123456789abcdef0123456789abcdef";
const ROLES = Object.keys(NATS_PERMISSIONS) as readonly NatsRole[];
const read = (path: string): string => readFileSync(join(DEPLOY, path), "utf8");

type Environment = Readonly<Record<string, string>>;

/** What an environment comes to. */
function settingsOf(args: readonly string[], env: Environment): Settings {
  const startup = loadSettings({ argv: args, env, readFile: () => new Uint8Array() });
  if (startup.kind !== "start") throw new Error(`not a start: ${startup.kind}`);
  expect(startup.warnings).toEqual([]); // Unknown keys and those without effect.
  return startup.settings;
}

describe("compose.yaml", () => {
  interface Service {
    readonly image: string;
    readonly build?: string;
    readonly command: readonly string[];
    readonly environment: Readonly<Record<string, string | number>>;
    readonly volumes?: readonly string[];
    readonly ports?: readonly string[];
    readonly healthcheck?: object;
    readonly depends_on?: Readonly<Record<string, unknown>>;
  }
  const compose = Bun.YAML.parse(read("compose.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: Readonly<Record<string, null>>;
  };
  const services = Object.entries(compose.services);
  const named = (prefix: string): readonly (readonly [string, Service])[] => services.filter(([name]) => name.startsWith(prefix));
  const asked = new Set([...read("compose.yaml").matchAll(/\$\{(\w+):\?see cluster\.env\.example\}/g)].map(([, name = ""]) => name));
  const environmentOf = ({ environment }: Service): Environment =>
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value).replace(/\$\{\w+:\?[^}]*\}/, SECRET)]));

  test("has three servers of NATS, two frontends, three data nodes and a store, all of pinned images", () => {
    expect(["nats-", "frontend-", "datanode-", "store"].map((prefix) => named(prefix).length)).toEqual([3, 2, 3, 1]);
    expect(services).toHaveLength(9);
    for (const [name, { image, build }] of services) {
      const isOurs = name.startsWith("frontend") || name.startsWith("datanode");
      expect([name, image, build]).toEqual(
        isOurs ? [name, "varve", "../.."] : [name, expect.stringMatching(/:v?\d+\.\d+\.\d+/), undefined],
      );
    }
  });

  test("gives its parts settings that they take, and that belong together", () => {
    for (const [name, service] of named("frontend-")) {
      const { http, cluster } = settingsOf(service.command, environmentOf(service));
      expect([http.addr.port, cluster.natsUser, cluster.replicas]).toEqual([4000, "frontend", 3]);
      expect([cluster.nodeId, cluster.bindAddr.port, cluster.advertiseAddr]).toEqual([name, 3001, `${name}:3001`]);
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:40\d\d:400\d$/);
    }
    for (const [name, service] of named("datanode-")) {
      const { storage, cluster } = settingsOf(service.command, environmentOf(service));
      expect([storage.type, cluster.natsUser, cluster.nodeId, cluster.advertiseAddr]).toEqual(["S3", "datanode", name, `${name}:3001`]);
      expect(service.healthcheck).toBeDefined();
      expect(Object.keys(service.depends_on ?? {}).toSorted()).toEqual(["nats-1", "nats-2", "nats-3", "store"]);
    }
  });

  test("mounts what is there, and volumes that it declares", () => {
    const found: string[] = [];
    for (const source of services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(":")[0] ?? ""))) {
      if (source.startsWith("./")) expect([source, existsSync(join(DEPLOY, source))]).toEqual([source, true]);
      else found.push(source);
    }
    expect(found.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
  });

  test("asks for the secrets that the example names, and for all that nats.conf takes", () => {
    const example = [...read("cluster.env.example").matchAll(/^(\w+)=$/gm)].map(([, name = ""]) => name);
    expect([...asked].toSorted()).toEqual(example.toSorted());
    const wanted = new Set([...read("nats.conf").matchAll(/: \$(\w+)/g)].map(([, name = ""]) => name));
    for (const [, { environment }] of named("nats-")) expect(Object.keys(environment).toSorted()).toEqual([...wanted].toSorted());
  });
});

describe("nats.conf", () => {
  test("has the permissions of the code, word for word", () => {
    for (const role of ROLES) {
      const user = `{ user: ${role}, password: $NATS_${role.toUpperCase()}_PASSWORD, permissions: ${permissionsBlock(role, "      ")} }`;
      expect(read("nats.conf")).toContain(user);
    }
  });

  test("is taken by a server, and syncs always", () => {
    expect(read("nats.conf")).toContain("sync_interval: always");
    if (NATS_SERVER === undefined) return; // The words are all that can be looked at.
    const passwords = ROLES.map((role) => [`NATS_${role.toUpperCase()}_PASSWORD`, SECRET] as const);
    const env = { ...process.env, NATS_NAME: "nats-1", ...Object.fromEntries(passwords) };
    const run = Bun.spawnSync([NATS_SERVER, "-c", join(DEPLOY, "nats.conf"), "-t"], { env });
    expect([run.exitCode, run.stderr.toString()]).toEqual([0, expect.stringContaining("configuration file")]);
  });
});

describe("varve@.service", () => {
  const unit = read("varve@.service");
  const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => /^\w+=/.test(line));

  test("is shut in as the unit of one server is", () => {
    const one = linesOf(readFileSync(join(DEPLOY, "../varve.service"), "utf8"));
    const own = /^(?:Description|ExecStart|User|StateDirectory|WorkingDirectory|TimeoutStartSec)=/;
    expect(one.filter((line) => !own.test(line) && !linesOf(unit).includes(line))).toEqual([]);
  });

  test("starts a part with flags that it has, of a file and a folder of its own", () => {
    const [, command = ""] = /^ExecStart=\/usr\/local\/bin\/varve (.+)$/m.exec(unit) ?? [];
    for (const role of ["frontend", "datanode"] as const) {
      const [part, start, ...args] = command.replaceAll("%i", role).split(" ");
      expect([part, start]).toEqual([role, "start"]);
      const { values } = readFlags(args, FLAGS_OF[role]);
      expect(Object.fromEntries(values)).toEqual({ "config-file": `/etc/varve/${role}.toml`, "data-home": `/var/lib/varve-${role}` });
    }
  });
});

describe("varve-cluster.rules.yml", () => {
  interface Rule {
    readonly alert: string;
    readonly expr: string;
    readonly annotations: { readonly runbook: string };
  }
  const { groups } = Bun.YAML.parse(read("varve-cluster.rules.yml")) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const docs = (name: string): string => readFileSync(join(DEPLOY, "../../docs", name), "utf8");

  test("asks in PromQL for families that there are, and each alert has a chapter", () => {
    expect(rules.length).toBeGreaterThan(3);
    for (const { alert, expr, annotations } of rules) {
      expect(() => parsePromql(expr)).not.toThrow();
      for (const [, family = ""] of expr.matchAll(/\b(varve_\w+)\{/g)) expect(docs("metrics.md")).toContain(`\`${family}\``);
      expect(annotations.runbook).toBe(`docs/cluster-runbook.md#${alert.toLowerCase()}`);
      expect(docs("cluster-runbook.md")).toContain(`\n### ${alert}\n`);
    }
  });
});

describe("kubernetes/", () => {
  type Labels = Readonly<Record<string, string>>;
  interface Variable {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef?: { readonly key: string }; readonly fieldRef?: object };
  }
  interface Container {
    readonly image: string;
    readonly args: readonly string[];
    readonly env: readonly Variable[];
    readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
  }
  interface Manifest {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly data?: Labels;
    readonly stringData?: Labels;
    readonly spec?: {
      readonly selector?: Labels & { readonly matchLabels?: Labels };
      readonly podSelector?: { readonly matchLabels: Labels };
      readonly serviceName?: string;
      readonly ports?: readonly { readonly targetPort: string }[];
      readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: { readonly containers: readonly Container[] } };
    };
  }
  const manifests = ["config", "frontend", "datanode", "secret.example"].flatMap((name) => {
    const parsed = Bun.YAML.parse(read(`kubernetes/${name}.yaml`)) as Manifest | readonly Manifest[];
    return Array.isArray(parsed) ? (parsed as readonly Manifest[]) : [parsed as Manifest];
  });
  const ofKind = (kind: string): readonly Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
  const secrets = Object.keys(ofKind("Secret")[0]?.stringData ?? {});
  const workloads = manifests.filter(({ spec }) => spec?.template !== undefined);

  function environmentOf({ env, envFrom }: Container): Environment {
    const maps = envFrom.flatMap(({ configMapRef }) => {
      const map = ofKind("ConfigMap").find(({ metadata }) => metadata.name === configMapRef.name);
      if (map?.data === undefined) throw new Error(`no ConfigMap ${configMapRef.name}`);
      return Object.entries(map.data);
    });
    const own = env.map(({ name, value, valueFrom }) => {
      const key = valueFrom?.secretKeyRef?.key;
      if (key !== undefined) expect(secrets).toContain(key);
      return [
        name,
        key === undefined
          ? (value ?? "varve-datanode-0").replace("$(POD_NAME)", "varve-datanode-0").replace("$(POD_IP)", "10.0.0.7")
          : SECRET,
      ] as const;
    });
    return Object.fromEntries([...maps, ...own]);
  }

  test("has both parts with settings that they take, and probes at ports that there are", () => {
    expect(workloads.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Deployment varve-frontend",
      "StatefulSet varve-datanode",
    ]);
    for (const { spec } of workloads) {
      for (const container of spec?.template?.spec.containers ?? []) {
        const { cluster, storage } = settingsOf(container.args, environmentOf(container));
        expect(cluster.natsUser).toBe(container.args[0] as string);
        if (cluster.natsUser === "datanode") {
          expect([cluster.nodeId, cluster.advertiseAddr]).toEqual(["varve-datanode-0", "varve-datanode-0.varve-datanode:3001"]);
          expect(Number(storage.cacheBytesMax)).toBe(40 * 1024 ** 3);
        }
        if (cluster.natsUser === "frontend") expect([cluster.bindAddr.port, cluster.advertiseAddr]).toEqual([3001, "10.0.0.7:3001"]);
        const ports = container.ports.map(({ name }) => name);
        for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"] as const)
          expect(ports).toContain(container[probe]?.httpGet.port as string);
      }
    }
  });

  test("selects what there is", () => {
    const labels = workloads.map(({ spec }) => spec?.template?.metadata.labels ?? {});
    for (const { kind, metadata, spec } of manifests) {
      const selector = spec?.podSelector?.matchLabels ?? spec?.selector?.matchLabels ?? spec?.selector;
      if (selector === undefined) continue;
      const isFound = labels.some((its) => Object.entries(selector).every(([name, value]) => its[name] === value));
      expect([kind, metadata.name, isFound]).toEqual([kind, metadata.name, true]);
    }
    const services = ofKind("Service").map(({ metadata }) => metadata.name);
    expect(services).toContain(workloads[1]?.spec?.serviceName as string);
    expect(ofKind("PodDisruptionBudget")).toHaveLength(2);
  });

  test("has the permissions of the code for NATS, whose passwords are secrets that there are", () => {
    const values = Bun.YAML.parse(read("kubernetes/nats-values.yaml")) as {
      readonly config: {
        readonly cluster: { readonly replicas: number };
        readonly jetstream: { readonly merge: { readonly sync_interval: string } };
        readonly merge: {
          readonly accounts: { readonly VARVE: { readonly users: readonly { user: NatsRole; password: string; permissions: unknown }[] } };
        };
      };
      readonly container: {
        readonly env: Readonly<Record<string, { readonly valueFrom: { readonly secretKeyRef: { readonly key: string } } }>>;
      };
    };
    const { users } = values.config.merge.accounts.VARVE;
    expect(users.map(({ user, permissions }) => [user, permissions])).toEqual(ROLES.map((role) => [role, NATS_PERMISSIONS[role]]));
    expect([values.config.cluster.replicas, values.config.jetstream.merge.sync_interval]).toEqual([3, "always"]);
    for (const [name, { valueFrom }] of Object.entries(values.container.env)) {
      expect(users.map(({ password }) => password)).toContain(`<< $${name} >>`);
      expect(secrets).toContain(valueFrom.secretKeyRef.key);
    }
    expect(Object.keys(values.container.env)).toHaveLength(ROLES.length);
  });
});
