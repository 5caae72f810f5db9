import { describe, expect, test } from "bun:test";
import { ConfigError } from "./config-error.ts";
import { loadSettings, type Start } from "./load.ts";
import { renderConfig } from "./render.ts";

interface Case {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Text of varve.toml; it is read when given. */
  readonly toml?: string;
}

function run(input: Case): ReturnType<typeof loadSettings> {
  const argv = [...(input.toml === undefined ? [] : ["-c", "varve.toml"]), ...(input.argv ?? [])];
  const readFile = (path: string): Uint8Array => {
    if (path !== "varve.toml" || input.toml === undefined) throw Object.assign(new Error("x"), { code: "ENOENT" });
    return new TextEncoder().encode(input.toml);
  };
  return loadSettings({ argv, env: input.env ?? {}, readFile });
}

function start(input: Case): Start {
  const startup = run(input);
  if (startup.kind !== "start") throw new Error(`not a start: ${startup.kind}`);
  return startup;
}

/** Checks lines of the effective configuration, and all warnings. */
function check(input: Case, lines: readonly string[], warnings: readonly string[] = []): void {
  const { settings, warnings: got } = start(input);
  const text = renderConfig(settings).split("\n");
  for (const line of lines) expect(text).toContain(line);
  expect(got).toEqual(warnings);
}

function checkRefused(input: Case, message: string, exitCode = 1): void {
  try {
    run(input);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ConfigError);
    expect(thrown).toMatchObject({ message: expect.stringContaining(message), exitCode });
    expect(String(thrown)).not.toContain("\n");
    expect(String(thrown)).not.toContain("secret");
    return;
  }
  throw new Error(`accepted ${JSON.stringify(input)}`);
}

describe("precedence", () => {
  const env = { GREPTIMEDB_STANDALONE__HTTP__ADDR: "127.0.0.1:1", VARVE__HTTP__ADDR: "127.0.0.1:2" };
  const toml = '[http]\naddr = "127.0.0.1:3"';

  test("flag over file over environment over default", () => {
    check({}, ['addr = "127.0.0.1:4000"']);
    check({ env }, ['addr = "127.0.0.1:2"']);
    check({ env: { GREPTIMEDB_STANDALONE__HTTP__ADDR: "127.0.0.1:1" } }, ['addr = "127.0.0.1:1"']);
    check({ env, toml }, ['addr = "127.0.0.1:3"']);
    check({ env, toml, argv: ["--http-addr", "127.0.0.1:4"] }, ['addr = "127.0.0.1:4"']);
  });

  test("an env prefix of one's own replaces both", () => {
    check({ env: { ...env, MINE__HTTP__ADDR: "127.0.0.1:5" }, argv: ["--env-prefix=MINE"] }, ['addr = "127.0.0.1:5"']);
    check({ env, argv: ["--env-prefix=MINE"] }, ['addr = "127.0.0.1:4000"']);
  });

  test("an empty variable is unset", () => {
    check({ env: { VARVE__HTTP__ADDR: "" } }, ['addr = "127.0.0.1:4000"']);
  });

  test("only the value that wins is checked", () => {
    check({ env: { VARVE__HTTP__TIMEOUT: "bad" }, toml: '[http]\ntimeout = "5s"' }, ['timeout = "5s"']);
  });
});

describe("values", () => {
  test("reads every kind from TOML", () => {
    const toml = `auto_create_table = false
      default_timezone = "Europe/Berlin"
      [http]
      timeout = "1m30s"
      body_limit = 1024
      cors_allowed_origins = ["https://a.example", "https://b.example"]
      [wal]
      sync = "interval"
      sync_interval = "250ms"
      [storage]
      memtable_size = "1.5GiB"
      [logging]
      level = "INFO,wal=4"`;
    check({ toml }, [
      "auto_create_table = false",
      'default_timezone = "Europe/Berlin"',
      'timeout = "1m 30s"',
      'body_limit = "1KiB"',
      'cors_allowed_origins = ["https://a.example", "https://b.example"]',
      'sync_interval = "250ms"',
      'memtable_size = "1536MiB"',
      'write_buffer_limit = "9GiB"',
      'level = "wal=debug,info"',
    ]);
  });

  test("reads every kind from the environment", () => {
    const env = {
      VARVE__AUTO_CREATE_TABLE: "False",
      VARVE__HTTP__BODY_LIMIT: "0",
      VARVE__HTTP__CORS_ALLOWED_ORIGINS: "https://a.example, https://b.example",
      varve__query__timeout: "0s",
      VARVE__DEFAULT_TIMEZONE: "system",
    };
    check({ env }, [
      "auto_create_table = false",
      'body_limit = "0KiB"',
      'cors_allowed_origins = ["https://a.example", "https://b.example"]',
      'timeout = "0s"',
      'default_timezone = "system"',
    ]);
  });

  test("reads what happens to requests beyond their share", () => {
    const key = "write_bytes_exhausted_policy";
    check({ toml: `${key} = "wait"` }, []);
    check({ toml: `${key} = "WAIT"` }, []);
    check({ toml: `${key} = "wait(10s)"` }, []);
    check({ toml: `${key} = "wait(1m 30s)"` }, [`${key} = "wait(1m 30s)"`]);
    check({ toml: `${key} = "fail"` }, [`${key} = "fail"`]);
    check({ toml: `${key} = "skip"` }, [`${key} = "fail"`]);
    check({ env: { VARVE__WRITE_BYTES_EXHAUSTED_POLICY: "fail" } }, [`${key} = "fail"`]);
    for (const bad of ["", "drop", "wait()", "wait(0s)", "wait(11m)", "wait(1s", "wait 1s"]) {
      checkRefused({ toml: `${key} = "${bad}"` }, `cannot use \`${key}\``);
    }
    checkRefused({ toml: `${key} = true` }, "it is not a string");
  });

  test("gives typed values", () => {
    const { settings } = start({ argv: ["--http-addr", "[::1]:0", "--data-home=/data/"] });
    expect(settings.http).toMatchObject({ addr: { host: "::1", port: 0 }, timeoutMs: 0, bodyBytesMax: 64 * 1024 * 1024 });
    expect(settings.wal).toMatchObject({ dir: "/data/wal", sync: "always", syncIntervalMs: 1000 });
    expect(settings.write.stallTimeoutMs as number).toBe(10_000);
    expect(settings.general.userProvider).toBeUndefined();
    expect(start({}).settings.storage.dataHome).toBe("./varve_data");
  });

  test("says that a password on the command line is seen by others", () => {
    const argv = ["--user-provider", "static_user_provider:cmd:alice=secret"];
    const { warnings } = start({ argv });
    expect(warnings).toEqual([expect.stringContaining("the passwords in --user-provider are visible to every user of this machine")]);
    expect(warnings.join()).not.toContain("secret");
    expect(start({ toml: 'user_provider = "static_user_provider:cmd:alice=secret"' }).warnings).toEqual([]);
    expect(start({ argv: ["--user-provider", "static_user_provider:file:users.txt"] }).warnings).toEqual([]);
  });

  test("shows no telemetry, whatever was asked for, since none is sent", () => {
    const warning = "`enable_telemetry` in varve.toml has no effect: Varve sends no telemetry whatever it says";
    for (const toml of ["", "enable_telemetry = false"]) check({ toml }, ["enable_telemetry = false"]);
    check({ toml: "enable_telemetry = true" }, ["enable_telemetry = false"], [warning]);
  });

  test("a star among the origins says any", () => {
    check({ toml: '[http]\ncors_allowed_origins = ["https://a.example", "*"]' }, ['cors_allowed_origins = ["*"]']);
    check({}, ["cors_allowed_origins = []"]);
  });

  test("refuses wrong types, ranges and words, and says where they are from", () => {
    checkRefused({ toml: "[http]\ntimeout = 30" }, "cannot use `http.timeout` = 30 from varve.toml: it is a number; want a duration");
    checkRefused({ toml: '[http]\nenable_cors = "yes"' }, '`http.enable_cors` = "yes" from varve.toml: it is a string; want true or false');
    checkRefused({ toml: "http = 3" }, "cannot use `http` from varve.toml: want a table [http]");
    checkRefused({ toml: "[http.addr]\nx = 1" }, "it is not a string");
    checkRefused({ toml: '[http]\ncors_allowed_origins = "*"' }, "it is a string; want a list of origins");
    checkRefused({ toml: '[http]\ncors_allowed_origins = ["a b"]' }, '"a b" is not an origin');
    checkRefused({ toml: "[http]\ncors_allowed_origins = [1]" }, "an item is a number");
    checkRefused({ toml: '[http]\nallowed_hosts = ["http://a"]' }, '"http://a" is not a name');
    checkRefused({ toml: '[storage]\ncopy_endpoints = ["*"]' }, '"*": name each endpoint');
    checkRefused({ toml: '[wal]\nsync = "sometimes"' }, 'it is none of these; want "always" or "interval" or "never"');
    checkRefused({ toml: '[wal]\nsegment_size = "1KiB"' }, "it is out of range; want a size");
    checkRefused({ toml: "[wal]\nsegment_size = 1.5" }, "it is out of range");
    checkRefused({ toml: "init_regions_parallelism = 0" }, "it is out of range; want a whole number from 1 to 1024");
    checkRefused({ toml: "init_regions_parallelism = 9223372036854775807" }, "it is out of range");
    checkRefused({ toml: '[http]\ntimeout = "1us"' }, "it is finer than a millisecond");
    checkRefused({ toml: '[http]\ntimeout = "2days"' }, "it is out of range");
    checkRefused({ toml: 'default_timezone = "Mars/Base"' }, "no such time zone");
    checkRefused({ toml: '[storage]\ntype = "Gcs"' }, '`storage.type` = "Gcs" from varve.toml: it is none of these; want "File" or "S3"');
    checkRefused({ toml: '[storage]\ndata_home = ""' }, "it is empty");
    checkRefused({ toml: '[logging]\nlevel = "a=b=c"' }, "Invalid filter");
    checkRefused({ env: { VARVE__QUERY__TIMEOUT: "30" } }, '`query.timeout` = "30" from VARVE__QUERY__TIMEOUT: the number 30 has no unit');
    checkRefused({ env: { VARVE__AUTO_CREATE_TABLE: "1" } }, "want true or false");
  });

  test("refuses addresses that are no IP address with a port", () => {
    for (const address of ["localhost:4000", "4000", ":4000", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:x", "::1:4000", "[127.0.0.1]:1"]) {
      checkRefused({ argv: ["--http-addr", address] }, `from --http-addr: Failed to parse address ${address}`);
    }
  });

  test("takes a store of objects whole or not at all, and quotes no key", () => {
    const keys = 'access_key_id = "id"\nsecret_access_key = "hush"';
    const { settings } = start({ toml: `[storage]\ntype = "S3"\nbucket = "b1"\nroot = "/a/b/"\n${keys}` });
    expect([settings.storage.type, settings.storage.bucket, settings.storage.secretAccessKey]).toEqual(["S3", "b1", "hush"]);
    expect(renderConfig(settings)).toContain('access_key_id = "***"\nsecret_access_key = "***"');
    checkRefused({ toml: `[storage]\ntype = "S3"\n${keys}` }, 'cannot use `storage.type` "S3" without `storage.bucket`');
    checkRefused({ toml: '[storage]\ntype = "S3"\nbucket = "b1"' }, "without `storage.access_key_id`");
    checkRefused({ toml: '[storage]\nbucket = "a/b"' }, "no bucket has such a name");
    checkRefused({ toml: '[storage]\nroot = "a/../b"' }, 'it holds a part "." or ".."');
    checkRefused({ toml: '[storage]\nendpoint = "http://u:hush@h/x"' }, "it is no http or https origin");
    checkRefused({ toml: '[storage]\nsecret_access_key = "hu sh"' }, "cannot use `storage.secret_access_key` from varve.toml: it holds");
  });

  test("refuses a write buffer smaller than a memtable", () => {
    checkRefused({ toml: '[storage]\nwrite_buffer_limit = "16MiB"' }, "below `storage.memtable_size` writers would wait for ever");
  });
});

describe("files", () => {
  test("refuses what is missing or no TOML, with line and column, without quoting the file", () => {
    checkRefused({ argv: ["-c", "none.toml"] }, "cannot read config file none.toml: no such file");
    checkRefused({ toml: "[http]\nuser_provider = secret" }, "cannot read config file varve.toml: line 2, column 17: ");
    checkRefused({ toml: 'a = "secret\n' }, "cannot read config file varve.toml: line 1, column ");
    checkRefused({ toml: "a = 1\na = 2" }, "line 2, column 1: trying to redefine");
    checkRefused({ toml: "#".repeat(2 ** 20 + 1) }, "it is larger than");
    const readFile = (): Uint8Array => Uint8Array.of(0xff);
    expect(() => loadSettings({ argv: ["-c", "x"], env: {}, readFile })).toThrow("cannot read config file x: it is not UTF-8");
  });

  test("warns of unknown keys and names the nearest", () => {
    check({ toml: '[http]\nadr = "x"' }, [], ["unknown key `http.adr` in varve.toml: did you mean `http.addr`?"]);
    check({ toml: "[htpp]\na = 1\nb = 2" }, [], ["unknown section `htpp` in varve.toml: did you mean `http`?"]);
    check({ toml: "zzzzzzzz = 1" }, [], ["unknown key `zzzzzzzz` in varve.toml: it has no effect"]);
    check({ toml: "[__proto__]\nx = 1" }, [], ["unknown section `__proto__` in varve.toml: it has no effect"]);
    check({ env: { VARVE__WAL__SNYC: "never" } }, [], ["unknown key `wal.snyc` in VARVE__WAL__SNYC: did you mean `wal.sync`?"]);
  });
});

describe("settings without effect", () => {
  test("each warns once, and none shows its value", () => {
    const why = "has no effect: connections are served by the main thread, and clients' certificates are not verified";
    check({ toml: "[mysql]\nruntime_size = 2" }, [], [`\`mysql.runtime_size\` in varve.toml ${why}`]);
    check(
      { toml: '[storage]\nsecret_access_key = "secret"' },
      [],
      ['`storage.secret_access_key` in varve.toml has no effect: `storage.type` is "File", not "S3"'],
    );
    check(
      { toml: "[grpc]\nruntime_size = 8" },
      [],
      [
        "`grpc.runtime_size` in varve.toml has no effect: " +
          "calls are served by the main thread, and connections live as long as they are used",
      ],
    );
    check({ argv: ["--log-dir=x"] }, [], ["--log-dir has no effect: log lines go to stderr; redirect them to keep them in files"]);
  });

  test("the address of gRPC by any of its flags' names", () => {
    for (const flag of ["--grpc-bind-addr", "--rpc-bind-addr", "--rpc-addr"])
      check({ argv: [`${flag}=127.0.0.1:4010`] }, ['bind_addr = "127.0.0.1:4010"']);
  });

  test("each of these warns once too", () => {
    check(
      { toml: "init_regions_parallelism = 8" },
      ["init_regions_parallelism = 8"],
      ["`init_regions_parallelism` in varve.toml has no effect: the number of tables opened at once is chosen by the server"],
    );
    check({ toml: "[wal]\nsync_write = false" }, [], ["`wal.sync_write` in varve.toml has no effect: use wal.sync: always is the default"]);
    check(
      { toml: '[wal]\nsync_interval = "5s"' },
      [],
      ['`wal.sync_interval` in varve.toml has no effect: `wal.sync` is "always", not "interval"'],
    );
  });

  test("a whole section of region engines warns once", () => {
    const { warnings } = start({
      toml: "[[region_engine]]\n[region_engine.mito]\nnum_workers = 1\nx = 2\n[[region_engine]]\n[region_engine.file]",
    });
    expect(warnings).toEqual([expect.stringContaining("`region_engine` in varve.toml has no effect")]);
  });

  test("what the server does anyway needs no warning", () => {
    const toml = `enable_telemetry = false
      init_regions_in_background = false
      max_in_flight_write_bytes = "0KiB"
      write_bytes_exhausted_policy = "wait"
      heartbeat_env_vars = []
      [mysql]
      enable = false
      [mysql.tls]
      ca_cert_path = ""
      [grpc.tls]
      mode = "disable"
      watch = false
      [wal]
      provider = "raft_engine"
      sync_write = true
      [storage]
      type = "File"
      providers = []
      [tracing]`;
    check({ toml, env: { VARVE__POSTGRES__TLS__CA_CERT_PATH: "" } }, ["enable_telemetry = false"]);
  });

  test("a log on other machines is refused, not ignored", () => {
    checkRefused({ toml: '[wal]\nprovider = "kafka"' }, 'cannot use `wal.provider` from varve.toml: want "raft_engine"');
  });
});

test("OpenTSDB lines are refused beside a user provider unless that is allowed", () => {
  const lines = '[opentsdb]\naddr = "127.0.0.1:4242"';
  const users = 'user_provider = "static_user_provider:cmd:alice=secret"\n';
  check({ toml: lines }, ['addr = "127.0.0.1:4242"']);
  checkRefused({ toml: users + lines }, "cannot listen on `opentsdb.addr` while `user_provider` is set");
  check({ toml: `${users}${lines}\nallow_unauthenticated = true` }, ["allow_unauthenticated = true"]);
  check({ toml: `${users}[opentsdb]\nenable = true` }, ["allow_unauthenticated = false"]);
});

test("TLS of the command line is for servers whose address is given there, and takes a certificate and a key", () => {
  const files = ["--tls-cert-path", "c.pem", "--tls-key-path", "k.pem"];
  const address = ["--postgres-addr", "127.0.0.1:1"];
  check({ argv: [...address, "--tls-mode", "verify-ca", "--tls-watch", ...files], toml: "[postgres]\nenable = false" }, [
    'addr = "127.0.0.1:1"',
    'tls.mode = "verify_ca"',
    'tls.cert_path = "c.pem"',
    'tls.key_path = "k.pem"',
    "tls.watch = true",
  ]);
  expect(start({ argv: address, toml: "[postgres]\nenable = false" }).settings.postgres.enable).toBeTrue();
  const why = "--tls-mode has no effect: it is for servers whose address is given by a flag, such as --postgres-addr";
  check({ argv: ["--tls-mode", "require", ...files] }, ['tls.mode = "disable"'], [why]);
  const half = "--tls-mode has no effect: TLS needs --tls-cert-path and --tls-key-path";
  check({ argv: [...address, "--tls-mode", "require"] }, ['tls.mode = "disable"'], [half]);
  check({ argv: [...address, "--tls-mode", "disable", ...files] }, ['tls.mode = "disable"']);
  checkRefused({ toml: '[postgres.tls]\nmode = "require"' }, "without `postgres.tls.cert_path`: name the file");
  checkRefused({ toml: '[postgres.tls]\nmode = "prefer"\ncert_path = "c"' }, "without `postgres.tls.key_path`");
  check({ toml: '[postgres]\nenable = false\n[postgres.tls]\nmode = "prefer"' }, ['tls.mode = "prefer"']);
});

describe("/config", () => {
  test("prints the defaults", () => {
    expect(renderConfig(start({}).settings)).toBe(`enable_telemetry = false
auto_create_table = true
max_in_flight_write_bytes = "0KiB"
write_bytes_exhausted_policy = "wait"
init_regions_in_background = false
init_regions_parallelism = 16

[http]
addr = "127.0.0.1:4000"
timeout = "0s"
body_limit = "64MiB"
is_strict_mode = false
cors_allowed_origins = []
allowed_hosts = []
enable_cors = true
experimental_enable_explain_analyze_stream = true
public_admin = false

[influxdb]
enable = true
default_merge_mode = "last_non_null"

[opentsdb]
enable = true
allow_unauthenticated = false

[jaeger]
enable = true

[grpc]
enable = true
bind_addr = "127.0.0.1:4001"
max_recv_message_size = "512MiB"
max_send_message_size = "512MiB"
flight_compression = "arrow_ipc"
tls.mode = "disable"
tls.cert_path = ""
tls.key_path = ""
tls.watch = false

[mysql]
enable = true
addr = "127.0.0.1:4002"
keep_alive = "0s"
reject_no_database = false
prepared_stmt_cache_size = 10000
tls.mode = "disable"
tls.cert_path = ""
tls.key_path = ""
tls.watch = false

[postgres]
enable = true
addr = "127.0.0.1:4003"
keep_alive = "0s"
auth_method = "auto"
tls.mode = "disable"
tls.cert_path = ""
tls.key_path = ""
tls.watch = false

[prom_store]
enable = true
with_metric_engine = true
prom_validation_mode = "strict"
experimental_enable_prometheus_native_histogram = false

[wal]
dir = "./varve_data/wal"
sync = "always"
sync_interval = "1s"
segment_size = "64MiB"
recovery = "strict"

[storage]
data_home = "./varve_data"
copy_root = "./varve_data/copy"
copy_endpoints = []
type = "File"
shards = 1
cache_capacity = "5GiB"
memtable_size = "32MiB"
write_buffer_limit = "192MiB"
flush_interval = "30m"
compaction = true
compaction_trigger = 4
free_space_min = "128MiB"

[write]
stall_timeout = "10s"

[ingest]
threads = 0

[logging]
level = "info"
log_format = "auto"
enable_otlp_tracing = false
otlp_endpoint = "http://localhost:4318/v1/traces"
tracing_sample_ratio.default_ratio = 1.0

[slow_query]
enable = true
threshold = "30s"
sample_ratio = 1.0
record_type = "system_table"
ttl = "2months 29days 2h 52m 48s"

[query]
timeout = "5m"
memory_limit = "1GiB"
plan_cache_size = "8MiB"
spill_limit = "16GiB"
spill_dir = "./varve_data/tmp"
helper = false
rehearsal = true
promql.samples = 50000000
promql.series = 1000000
promql.points = 11000
promql.timeout = "2m"
promql.lookback = "5m"

[memory]
limit = "0KiB"
`);
  });

  test("is a configuration file that gives the same configuration", () => {
    const argv = ["--data-home", 'a"b\\c\u007f', "--log-level", "wal=trace,warn", "--http-addr", "[::1]:4000"];
    const text = renderConfig(start({ argv }).settings);
    expect(renderConfig(start({ toml: text }).settings)).toBe(text);
  });

  test("masks passwords, and errors and warnings do not show them", () => {
    const argv = ["--user-provider", "static_user_provider:cmd:alice=secret,bob:ro=secret"];
    check({ toml: 'user_provider = "static_user_provider:cmd:alice=secret,bob:ro=secret"' }, [
      'user_provider = "static_user_provider:cmd:alice=***,bob:ro=***"',
    ]);
    expect(start({ argv }).settings.general.userProvider).toBe("static_user_provider:cmd:alice=secret,bob:ro=secret");
    checkRefused({ toml: 'user_provider = ["secret"]' }, "cannot use `user_provider` from varve.toml: it is an array");
  });
});
