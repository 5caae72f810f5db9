/**
 * From command line, file and environment to checked settings. The command line wins over the file, the file over the environment, the
 * environment over the defaults; only the value that wins is checked. Source: contract http.md 7.3.
 */
import { assert } from "../base/assert.ts";
import { checkCluster } from "./cluster-check.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import { type Command, readCommandLine, type StartCommand } from "./command-line.ts";
import { ConfigError } from "./config-error.ts";
import { readEnv } from "./env-layer.ts";
import { type ReadFile, readConfigFile } from "./file-layer.ts";
import type { HelpLine } from "./help.ts";
import type { Knob } from "./knob.ts";
import { ALL_KNOBS, KNOBS } from "./knobs.ts";
import { type RawSetting, readRaw } from "./layer.ts";
import { defaultsOf, ENV_PREFIXES, type Role, whyUnused } from "./role.ts";
import type { Settings, StorageSettings } from "./settings.ts";
import { ENV_PREFIX_ALIAS } from "./start-flags.ts";

/** Where settings come from. */
export interface Sources {
  /** Arguments without the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  /** Commands beside the server, for the help; absent: none. */
  readonly tools?: readonly HelpLine[];
}

/** A server to start. */
export interface Start {
  readonly kind: "start";
  readonly role: Role;
  readonly settings: Settings;
  /** What was said in vain, one line each, to be logged. Without values, hence without passwords. */
  readonly warnings: readonly string[];
}

/** What the process is to do. */
export type Startup = Start | Exclude<Command, StartCommand>;

/**
 * Reads all sources.
 *
 * @throws ConfigError one line that says what is wrong, where and what to write instead; carries the exit code
 */
export function loadSettings(sources: Sources): Startup {
  const command = readCommandLine(sources.argv, sources.tools);
  if (command.kind !== "start") return command;
  const { role } = command;
  const { settings, raws, warnings } = readAll(command, sources);
  checkCluster(role, settings);
  return { kind: "start", role, settings, warnings: [...warnings, ...check(settings, raws, role)] };
}

/** What a part of a cluster is configured with, for who only asks a cluster: not checked as a whole. @throws ConfigError */
export function loadClusterSettings(sources: Sources): ClusterSettings {
  return loadPartSettings(sources).cluster;
}

/** The same, with where the data files of a data node are. @throws ConfigError */
export function loadPartSettings(sources: Sources): Pick<Settings, "cluster" | "storage"> {
  const command = readCommandLine(sources.argv, sources.tools);
  assert(command.kind === "start", "who asks a cluster reads what a part of it would start with");
  return readAll(command, sources).settings;
}

interface ReadSettings {
  readonly settings: Settings;
  readonly raws: ReadonlyMap<string, RawSetting>;
  readonly warnings: readonly string[];
}

/** Reads all sources; each key is checked for itself. */
function readAll(command: StartCommand, sources: Sources): ReadSettings {
  const { role } = command;
  const prefixes = command.envPrefix === undefined ? [ENV_PREFIXES[role], ENV_PREFIX_ALIAS] : [command.envPrefix];
  const env = readEnv(sources.env, prefixes, role);
  const file = command.configFile === undefined ? undefined : readConfigFile(command.configFile, sources.readFile, role);
  const raws = new Map([...env.values, ...(file?.values ?? []), ...command.values]);
  const values = new Map(defaultsOf(role));
  const warnings = [...command.warnings, ...(file?.warnings ?? []), ...env.warnings];
  for (const knob of ALL_KNOBS) {
    const raw = raws.get(knob.key);
    if (raw === undefined) continue;
    const value = readKnob(knob, raw);
    values.set(knob.key, knob.inert?.isInForce === true ? knob.inert.neutral : value);
    const unused = Bun.deepEquals(value, knob.default) ? undefined : whyUnused(role, knob.key);
    const inert = knob.inert !== undefined && value !== knob.inert.neutral ? knob.inert.why : undefined;
    const why = unused ?? inert;
    if (why !== undefined) warnings.push(`\`${knob.key}\` in ${raw.source} has no effect: ${why}`);
  }
  return { settings: assemble(values), raws, warnings };
}

/** @throws ConfigError; quotes the value unless it may hold a password */
function readKnob<T>(knob: Knob<T>, raw: RawSetting): T {
  const result = readRaw(knob.kind, raw);
  if (result.ok) return result.value;
  const quoted =
    knob.secret === true
      ? ""
      : ` = ${JSON.stringify(raw.value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner))}`;
  throw new ConfigError(`cannot use \`${knob.key}\`${quoted} from ${raw.source}: ${result.reason}; want ${knob.kind.want}`);
}

/** Settings of the given values by key; what is missing gets its default. */
function assemble(values: ReadonlyMap<string, unknown>): Settings {
  const storage = section("storage", undefined);
  return {
    general: section("general", storage),
    http: section("http", storage),
    influxdb: section("influxdb", storage),
    opentsdb: section("opentsdb", storage),
    jaeger: section("jaeger", storage),
    grpc: section("grpc", storage),
    mysql: section("mysql", storage),
    postgres: section("postgres", storage),
    prom_store: section("prom_store", storage),
    wal: section("wal", storage),
    storage: section("storage", storage),
    write: section("write", storage),
    ingest: section("ingest", storage),
    logging: section("logging", storage),
    slow_query: section("slow_query", storage),
    query: section("query", storage),
    memory: section("memory", storage),
    cluster: section("cluster", storage),
  };

  function section<S extends keyof Settings>(name: S, base: StorageSettings | undefined): Settings[S] {
    const knobs: Readonly<Record<string, Knob<unknown>>> = KNOBS[name];
    const fields = Object.entries(knobs).map(([field, knob]) => {
      const fallback = knob.derive === undefined || base === undefined ? knob.default : knob.derive(base);
      return [field, values.has(knob.key) ? values.get(knob.key) : fallback] as const;
    });
    // Every field of the section has a knob of its type: `Knobs` maps one to the other.
    return Object.fromEntries(fields) as unknown as Settings[S];
  }
}

/** What can only be judged with several settings in hand. Answers warnings. @throws ConfigError */
function check(settings: Settings, raws: ReadonlyMap<string, RawSetting>, role: Role): readonly string[] {
  const { storage, wal, opentsdb, general } = settings;
  if (role !== "datanode" && opentsdb.addr !== undefined && general.userProvider !== undefined && !opentsdb.allowUnauthenticated) {
    throw new ConfigError(
      "cannot listen on `opentsdb.addr` while `user_provider` is set: put lines carry no credentials, so whoever reaches the port " +
        "writes; remove `opentsdb.addr`, or allow that with `opentsdb.allow_unauthenticated = true`",
    );
  }
  if (role !== "datanode") {
    checkTls("grpc", settings.grpc);
    checkTls("mysql", settings.mysql);
    checkTls("postgres", settings.postgres);
  }
  const limit = raws.get("storage.write_buffer_limit");
  if (role !== "frontend" && storage.writeBufferBytesMax < storage.memtableBytes) {
    assert(limit !== undefined, "the derived write buffer holds a memtable; got less");
    throw new ConfigError(
      `cannot use \`storage.write_buffer_limit\` from ${limit.source}: below \`storage.memtable_size\` writers would wait for ever`,
    );
  }
  const warnings: string[] = role === "frontend" ? [] : [...checkStore(storage, raws)];
  const provider = raws.get("user_provider");
  if (
    role !== "datanode" &&
    provider?.source.startsWith("--") === true &&
    general.userProvider?.startsWith("static_user_provider:cmd:") === true
  ) {
    const instead = "put the accounts into a file and name it with static_user_provider:file:";
    warnings.push(`the passwords in ${provider.source} are visible to every user of this machine, in its list of processes; ${instead}`);
  }
  const interval = raws.get("wal.sync_interval");
  if (interval === undefined || wal.sync === "interval" || role !== "standalone") return warnings;
  return [...warnings, `\`wal.sync_interval\` in ${interval.source} has no effect: \`wal.sync\` is "${wal.sync}", not "interval"`];
}

/** Keys that an S3 store needs, and those that count for one only. */
const NEEDED_BY_S3 = ["bucket", "accessKeyId", "secretAccessKey"] as const;
const OF_S3 = [...NEEDED_BY_S3, "root", "endpoint", "region", "isVirtualHost", "cacheBytesMax"] as const;

/** @throws ConfigError where a store is wanted without what it needs */
function checkStore(storage: StorageSettings, raws: ReadonlyMap<string, RawSetting>): readonly string[] {
  if (storage.type === "S3") {
    const missing = NEEDED_BY_S3.find((field) => storage[field] === undefined);
    if (missing !== undefined) throw new ConfigError(`cannot use \`storage.type\` "S3" without \`${KNOBS.storage[missing].key}\``);
    return [];
  }
  return OF_S3.flatMap((field) => {
    const { key } = KNOBS.storage[field];
    const raw = raws.get(key);
    return raw === undefined || storage[field] === KNOBS.storage[field].default
      ? []
      : [`\`${key}\` in ${raw.source} has no effect: \`storage.type\` is "File", not "S3"`];
  });
}

/** @throws ConfigError where TLS is wanted without what it needs */
function checkTls<S extends "grpc" | "mysql" | "postgres">(
  server: S,
  { enable, tlsMode, tlsCertPath, tlsKeyPath }: Pick<Settings[S], "enable" | "tlsMode" | "tlsCertPath" | "tlsKeyPath">,
): void {
  if (!enable || tlsMode === "disable" || (tlsCertPath !== "" && tlsKeyPath !== "")) return;
  const missing = tlsCertPath === "" ? "cert_path" : "key_path";
  throw new ConfigError(`cannot use \`${server}.tls.mode\` "${tlsMode}" without \`${server}.tls.${missing}\`: name the file, as PEM`);
}
