/** Settings of frontends and data nodes: what they need, what they have no use for, and the contract's names for some of them. */
import { describe, expect, test } from "bun:test";
import { advertisedAddressOf, nodeNameOf } from "./cluster-check.ts";
import { readCommandLine } from "./command-line.ts";
import { ConfigError } from "./config-error.ts";
import { classOfKey } from "./known-key.ts";
import { loadSettings, type Start } from "./load.ts";
import { internalAccessOf, natsAccessOf } from "./nats-access.ts";
import { renderConfig } from "./render.ts";
import { meantKey, type Role, UNUSED_KEYS, whyUnused } from "./role.ts";
import { FLAGS_OF } from "./start-flags.ts";
import { KNOB_OF_KEY } from "./knobs.ts";

const SECRET = "secret-0123456789abcdef";
/** What every part of a cluster needs. */
const COMMON = { VARVE__CLUSTER__SERVERS: "nats://a:4222,tls://b:4222", VARVE__CLUSTER__NATS__MONITORS: "http://a:8222" };
const NEEDED = { ...COMMON, VARVE__CLUSTER__SECRET: SECRET };
const STORE = { VARVE__CLUSTER__SHARED_DIR: "/mnt/varve" };

interface Case {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly toml?: string;
}

function start(role: Role, { argv = [], env = {}, toml }: Case): Start {
  const all = [role, "start", ...(toml === undefined ? [] : ["-c", "varve.toml"]), ...argv];
  const startup = loadSettings({ argv: all, env, readFile: () => new TextEncoder().encode(toml) });
  if (startup.kind !== "start") throw new Error(`not a start: ${startup.kind}`);
  return startup;
}

function checkRefused(role: Role, input: Case, message: string): void {
  try {
    start(role, input);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ConfigError);
    expect(thrown).toMatchObject({ message: expect.stringContaining(message) });
    expect(String(thrown)).not.toContain("secret-");
    return;
  }
  throw new Error(`accepted ${JSON.stringify(input)}`);
}

describe("a part of a cluster", () => {
  test("needs NATS, what its servers promise, and a secret", () => {
    checkRefused("frontend", {}, "cannot start a frontend without `cluster.servers`");
    checkRefused("frontend", { env: { VARVE__CLUSTER__SERVERS: "nats://a:4222" } }, "without `cluster.nats.monitors`");
    checkRefused("frontend", { env: COMMON }, "cannot start a frontend without `cluster.secret`");
    const { settings, role, warnings } = start("frontend", { env: NEEDED });
    expect([role, settings.cluster.servers, warnings]).toEqual(["frontend", ["nats://a:4222", "tls://b:4222"], []]);
  });

  test("needs files that others see, where it is a data node", () => {
    checkRefused("datanode", { env: NEEDED }, "cannot start a data node with data files of its own");
    const s3 = { VARVE__STORAGE__TYPE: "S3", VARVE__STORAGE__BUCKET: "metrics" };
    const keys = { VARVE__STORAGE__ACCESS_KEY_ID: "a", VARVE__STORAGE__SECRET_ACCESS_KEY: "b" };
    checkRefused("datanode", { env: { ...NEEDED, ...s3 } }, 'cannot use `storage.type` "S3" without `storage.access_key_id`');
    checkRefused("datanode", { env: { ...NEEDED, ...s3, ...keys, ...STORE } }, "data files are in one place");
    expect(start("datanode", { env: { ...NEEDED, ...s3, ...keys } }).warnings).toEqual([]);
    expect(start("datanode", { env: { ...NEEDED, ...STORE } }).warnings).toEqual([]);
  });

  test("is reached somewhere", () => {
    const env = { ...NEEDED, ...STORE, VARVE__CLUSTER__BIND_ADDR: "0.0.0.0:3001" };
    checkRefused("datanode", { env }, "others cannot reach it at 0.0.0.0");
    const { cluster } = start("datanode", { env, argv: ["--rpc-server-addr", "node-1:3001"] }).settings;
    expect(advertisedAddressOf(cluster)).toBe("node-1:3001");
    expect(advertisedAddressOf({ ...cluster, advertiseAddr: undefined, bindAddr: { host: "::1", port: 0 } }, 77)).toBe("[::1]:77");
  });

  test("is refused what contradicts itself", () => {
    const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ NATS__USER: "varve" }, "with `cluster.nats.user` and without `cluster.nats.password`"],
      [{ NATS__SYSTEM_PASSWORD: SECRET }, "with `cluster.nats.system_password` and without `cluster.nats.system_user`"],
      [{ NATS__TOKEN: SECRET, NATS__CREDS_PATH: "x" }, "with both `cluster.nats.token` and `cluster.nats.creds_path`"],
      [{ NATS__TLS__CERT_PATH: "x" }, "without `cluster.nats.tls.key_path`"],
      [{ TLS__KEY_PATH: "x" }, "without `cluster.tls.cert_path`"],
      [{ TLS__MODE: "require" }, '`cluster.tls.mode` "require" needs `cluster.tls.cert_path`'],
      [{ TLS__MODE: "mutual", TLS__CERT_PATH: "c", TLS__KEY_PATH: "k" }, 'mode` "mutual" needs `cluster.tls.ca_cert_path`'],
      [{ SECRET_PATH: "x" }, "with both `cluster.secret` and `cluster.secret_path`"],
      [{ SECRET: "secret-short" }, "cannot use `cluster.secret` from VARVE__CLUSTER__SECRET: it is too short"],
      [{ SERVERS: "nats://me:secret-1@a:4222" }, "an address holds a user or a password"],
      [{ SERVERS: "a:4222" }, '"a:4222" is no address of NATS'],
      [{ REPLICAS: "2" }, "half of them are no majority; want 1, 3 or 5"],
      [{ LEASE_TIME: "1500ms" }, "it is no whole number of seconds"],
      [{ NODE_ID: "a.b" }, "it holds other characters"],
    ];
    for (const [more, message] of cases) {
      const named = Object.fromEntries(Object.entries(more).map(([key, value]) => [`VARVE__CLUSTER__${key}`, value]));
      checkRefused("datanode", { env: { ...NEEDED, ...STORE, ...named } }, message);
    }
  });

  test("knows whose certificates count", () => {
    const own = { VARVE__CLUSTER__TLS__CERT_PATH: "c", VARVE__CLUSTER__TLS__KEY_PATH: "k" };
    const env = { ...NEEDED, VARVE__CLUSTER__TLS__MODE: "require" };
    const ca = { VARVE__CLUSTER__TLS__CA_CERT_PATH: "a" };
    checkRefused("frontend", { env: { ...env, ...ca } }, '`cluster.tls.mode` "require" needs `cluster.tls.cert_path`');
    checkRefused("frontend", { env: { ...env, ...own } }, '`cluster.tls.mode` "require" needs `cluster.tls.ca_cert_path`');
    expect(start("frontend", { env: { ...env, ...own, ...ca } }).warnings).toEqual([]);
  });

  test("listens at a free port of this machine, unless it is told where others reach it", () => {
    expect(start("frontend", { env: NEEDED }).settings.cluster.bindAddr).toEqual({ host: "127.0.0.1", port: 0 });
    const env = { ...NEEDED, VARVE__CLUSTER__BIND_ADDR: "0.0.0.0:3001" };
    checkRefused("frontend", { env }, "others cannot reach it at 0.0.0.0, where `cluster.bind_addr` listens; set `cluster.advertise_addr`");
    const { cluster } = start("frontend", { env: { ...env, VARVE__CLUSTER__ADVERTISE_ADDR: "frontend-1:3001" } }).settings;
    expect([advertisedAddressOf(cluster), cluster.bindAddr.port]).toEqual(["frontend-1:3001", 3001]);
    expect(renderConfig(start("frontend", { env: NEEDED }).settings, "frontend")).toContain('bind_addr = "127.0.0.1:0"');
  });

  test("with certificates of both sides needs no secret", () => {
    const env = { ...COMMON, ...STORE };
    const toml = '[cluster.tls]\nmode = "mutual"\ncert_path = "c"\nkey_path = "k"\nca_cert_path = "a"';
    const { cluster } = start("datanode", { env, toml }).settings;
    const read = (path: string): Uint8Array => new TextEncoder().encode(`PEM ${path}`);
    expect(internalAccessOf(cluster, read)).toEqual({
      secret: undefined,
      tlsMode: "mutual",
      tls: { ca: "PEM a", cert: "PEM c", key: "PEM k" },
    });
  });
});

describe("names of the contract", () => {
  const contract = `
    node_id = 42
    [meta_client]
    metasrv_addrs = ["nats://127.0.0.1:4222"]
    timeout = "3s"
    tcp_nodelay = true
    [grpc]
    bind_addr = "10.0.0.1:3001"
    server_addr = "node:3001"
    [wal]
    provider = "kafka"
    [heartbeat]
    interval = "3s"`;

  test("mean ours", () => {
    const env = { VARVE__CLUSTER__NATS__MONITORS: "http://a:8222", VARVE__CLUSTER__SECRET: SECRET, ...STORE };
    const { settings, warnings } = start("datanode", { toml: contract, env });
    expect(settings.cluster).toMatchObject({
      nodeId: "42",
      servers: ["nats://127.0.0.1:4222"],
      bindAddr: { host: "10.0.0.1", port: 3001 },
      advertiseAddr: "node:3001",
    });
    expect(warnings).toEqual([
      expect.stringContaining("`meta_client.timeout` in varve.toml has no effect: machines of a cluster agree by NATS"),
      expect.stringContaining("`wal.provider` in varve.toml has no effect: rows come from the cluster's log"),
      expect.stringContaining("`heartbeat` in varve.toml has no effect: machines of a cluster find each other by NATS"),
    ]);
  });

  test("are told where they are wrong, and give way to ours in one file", () => {
    checkRefused(
      "frontend",
      { toml: '[meta_client]\nmetasrv_addrs = ["127.0.0.1:3002"]' },
      'cannot use `cluster.servers` = ["127.0.0.1:3002"] from varve.toml (`meta_client.metasrv_addrs`)',
    );
    const ours = '[cluster]\nservers = ["nats://ours:1"]\n';
    const theirs = '[meta_client]\nmetasrv_addrs = ["nats://theirs:1"]\n';
    const env = { VARVE__CLUSTER__NATS__MONITORS: "http://a:8222", VARVE__CLUSTER__SECRET: SECRET };
    for (const toml of [ours + theirs, theirs + ours])
      expect(start("frontend", { toml, env }).settings.cluster.servers).toEqual(["nats://ours:1"]);
    expect(start("frontend", { toml: theirs, env: NEEDED }).settings.cluster.servers).toEqual(["nats://theirs:1"]);
    const env2 = { ...env, GREPTIMEDB_FRONTEND__META_CLIENT__METASRV_ADDRS: "nats://env:1" };
    expect(start("frontend", { env: env2 }).settings.cluster.servers).toEqual(["nats://env:1"]);
  });

  test("are flags, too", () => {
    const valuesOf = (line: string): unknown => {
      const command = readCommandLine(line.split(" "));
      return command.kind === "start" ? Object.fromEntries([...command.values].map(([key, raw]) => [key, raw.value])) : command;
    };
    expect(valuesOf("datanode start --node-id 7 --rpc-bind-addr 1.1.1.1:1 --metasrv-addrs nats://a:1 --data-home /d")).toEqual({
      "cluster.node_id": "7",
      "cluster.bind_addr": "1.1.1.1:1",
      "cluster.servers": "nats://a:1",
      "storage.data_home": "/d",
    });
    expect(valuesOf("frontend start --http-timeout 30 --influxdb-enable false --mysql-addr 1.1.1.1:1")).toEqual({
      "http.timeout": "30s",
      "influxdb.enable": "false",
      "mysql.addr": "1.1.1.1:1",
      "mysql.enable": "true",
    });
    expect(readCommandLine(["datanode", "start", "--http-addr", "1.1.1.1:1"])).toMatchObject({
      warnings: ["--http-addr has no effect: a data node has one listener, --rpc-bind-addr"],
    });
  });
});

describe("what a role has no use for", () => {
  test("is told", () => {
    const env = { ...NEEDED, ...STORE, VARVE__MYSQL__ADDR: "127.0.0.1:1", VARVE__WAL__SYNC: "never", VARVE__HTTP__TIMEOUT: "0s" };
    expect(start("datanode", { env }).warnings).toEqual([
      "`mysql.addr` in VARVE__MYSQL__ADDR has no effect: clients talk to frontends",
      "`wal.sync` in VARVE__WAL__SYNC has no effect: rows come from the cluster's log, which NATS keeps",
    ]);
    expect(start("frontend", { env: { ...NEEDED, VARVE__STORAGE__TYPE: "S3" } }).warnings).toEqual([
      "`storage.type` in VARVE__STORAGE__TYPE has no effect: data nodes keep the rows",
    ]);
    expect(start("standalone", { env: NEEDED }).warnings).toHaveLength(3);
  });

  test("is named by keys and sections that there are", () => {
    for (const key of UNUSED_KEYS) {
      const inside = [...KNOB_OF_KEY.keys()].some((known) => known === key || known.startsWith(`${key}.`));
      expect([key, inside]).toEqual([key, true]);
    }
  });

  test("is not shown, and neither are secrets", () => {
    const env = { ...NEEDED, ...STORE, VARVE__CLUSTER__NATS__TOKEN: SECRET };
    const text = renderConfig(start("datanode", { env }).settings, "datanode");
    expect(text).toContain('secret = "***"');
    expect(text).toContain('nats.token = "***"');
    expect(text).not.toContain("secret-");
    for (const section of ["[mysql]", "[wal]", "[http]", "copy_root", "consistency"]) expect(text).not.toContain(section);
    expect(renderConfig(start("standalone", {}).settings)).not.toContain("[cluster]");
  });

  test("of flags: each sets a key that its role uses, or says why it does nothing", () => {
    const own = ["config-file", "env-prefix", "help", "version"];
    for (const role of ["standalone", "frontend", "datanode"] as const) {
      const names = FLAGS_OF[role].flatMap(({ name, aliases = [] }) => [name, ...aliases]);
      expect(new Set(names).size).toBe(names.length);
      for (const flag of FLAGS_OF[role]) {
        const isOwn = own.includes(flag.name) || flag.tls !== undefined || flag.inert !== undefined;
        const isUsed = flag.key !== undefined && KNOB_OF_KEY.has(flag.key) && whyUnused(role, flag.key) === undefined;
        expect([role, flag.name, isOwn || isUsed]).toEqual([role, flag.name, true]);
      }
    }
  });

  test("of keys: those of the contract mean one that is there", () => {
    for (const key of ["node_id", "grpc.bind_addr", "grpc.server_addr", "meta_client.metasrv_addrs"]) {
      expect(KNOB_OF_KEY.has(meantKey("datanode", key) ?? "")).toBe(true);
      expect(["knob", "inert"]).toContain(classOfKey(key, "standalone"));
    }
  });
});

test("the name of a node is that of its machine where none is set", () => {
  expect(nodeNameOf({ nodeId: "a" }, "machine")).toBe("a");
  expect(nodeNameOf({ nodeId: undefined }, "varve-0.varve.svc")).toBe("varve-0-varve-svc");
  expect(nodeNameOf({ nodeId: undefined }, "x".repeat(99))).toHaveLength(64);
  expect(nodeNameOf({ nodeId: undefined }, "")).toBe("node");
});

describe("what files hold", () => {
  const files: Readonly<Record<string, string>> = { "/ca": "CA", "/creds": "JWT", "/secret": `${SECRET}\n`, "/short": "x" };
  const read = (path: string): Uint8Array => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error("x"), { code: "ENOENT" });
    return new TextEncoder().encode(text);
  };
  const clusterOf = (more: Readonly<Record<string, string>>): Start["settings"]["cluster"] =>
    start("frontend", { env: { ...COMMON, ...more } }).settings.cluster;

  test("is read", () => {
    const cluster = clusterOf({
      VARVE__CLUSTER__SECRET_PATH: "/secret",
      VARVE__CLUSTER__NATS__CREDS_PATH: "/creds",
      VARVE__CLUSTER__NATS__TLS__CA_CERT_PATH: "/ca",
    });
    expect(internalAccessOf(cluster, read).secret).toBe(SECRET);
    expect(natsAccessOf(cluster, read)).toEqual({
      servers: ["nats://a:4222", "tls://b:4222"],
      credentials: { kind: "creds", content: "JWT" },
      tls: { ca: "CA", cert: undefined, key: undefined },
      checks: { system: undefined, monitors: ["http://a:8222"] },
      shards: 16,
      replicas: 3,
      logBytesMax: 1024 ** 3,
      leaseSeconds: 3,
      callMillis: 10_000,
    });
  });

  test("or told by name, without a word of it", () => {
    expect(() => internalAccessOf(clusterOf({ VARVE__CLUSTER__SECRET_PATH: "/none" }), read)).toThrow(
      "cannot read /none, which `cluster.secret_path` names: no such file",
    );
    expect(() => internalAccessOf(clusterOf({ VARVE__CLUSTER__SECRET_PATH: "/short" }), read)).toThrow("it is too short or too long");
  });
});
