/**
 * `varve cluster demo`: a whole cluster on one machine, to see what one is and to try it out.
 *
 *   <data-home>/nats/          NATS: its configuration, its streams
 *   <data-home>/store/         data files, in the place of an object store
 *   <data-home>/<part>/        what a part keeps for itself
 *   <data-home>/operator.toml  settings for `varve cluster status` and others against this demo
 *   <data-home>/datanode.toml  settings for `varve backup`, `varve datanode start`
 *
 * Secrets are made anew at each start and given by environment and private files, never on a command line. When a part dies all end: the
 * demo starts nothing again, so that one sees what happened. A demo that is killed itself leaves its parts, which then are to be ended by
 * hand; NATS of an earlier one is noticed at the start.
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DbError } from "../../../base/error.ts";
import { machineMemoryBytes } from "../../../base/memory/machine-memory.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { lockFolder } from "../../../storage/data-directory.ts";
import type { ToolIo } from "../../tool.ts";
import { shownLogLine } from "./child-lines.ts";
import { Children } from "./children.ts";
import { newSecret } from "./demo-nats.ts";
import { type DemoOptions, type FrontendAddresses, readDemoOptions } from "./demo-options.ts";
import {
  DEMO_LOG_SIZE,
  DEMO_SHARDS,
  type DemoServerFacts,
  type DemoWorld,
  inheritedEnvironment,
  monitorOf,
  natsProgramOf,
  newServerFacts,
  realWorld,
  startDemoNats,
} from "./demo-server.ts";
import { dataNodeFile, operatorFile } from "./operator-file.ts";

/** Part of the machine's memory that all its processes may take together. */
const MEMORY_PART = 1 / 2;
const MIB: number = 1024 * 1024;
/** Longest wait for all but NATS, in milliseconds. */
const READY_MILLIS = 120_000;

/** What a demo knows of itself. */
interface DemoFacts extends DemoOptions, DemoServerFacts {
  readonly secret: string;
}

/** Runs a demo until it is told to end, or a part dies. @returns the exit status @throws ConfigError, DbError */
export async function runDemo(args: readonly string[], io: ToolIo, given?: DemoWorld): Promise<number> {
  const world = given ?? realWorld(io.env);
  const options = readDemoOptions(args);
  const program = natsProgramOf(world);
  const home = resolve(options.dataHome);
  const unlock = await lockFolder(home, "folder", "--data-home");
  const children = new Children(world.spawn, (line) => io.err(`${line}\n`));
  const killAll = (): void => children.killAll();
  process.once("exit", killAll); // A second signal ends the process at once.
  try {
    await startAll({ ...options, ...newServerFacts(home), secret: newSecret() }, program, world, children, io);
    const why = await Promise.race([children.died, interrupted(io)]);
    if (why === undefined) return 0;
    throw new DbError(StatusCode.StorageUnavailable, `${why}; the others are ended`);
  } finally {
    await children.end();
    process.off("exit", killAll);
    unlock();
  }
}

/** @throws DbError: a part does not get ready; the caller ends the others */
async function startAll(facts: DemoFacts, nats: string, world: DemoWorld, children: Children, io: ToolIo): Promise<void> {
  const { home, ports } = facts;
  const dropped = Object.keys(io.env).filter((name) => /^(?:VARVE|GREPTIMEDB_\w+?)__/i.test(name));
  if (dropped.length > 0) io.err(`varve cluster demo: settings of the environment are not taken: ${dropped.join(", ")}\n`);
  await startDemoNats(facts, nats, world, children, io);
  if (io.interrupted.aborted) return;
  await mkdir(join(home, "store"), { recursive: true });
  const files = { ...facts, shards: DEMO_SHARDS, logSize: DEMO_LOG_SIZE };
  await Bun.write(join(home, "operator.toml"), operatorFile(files));
  await Bun.write(join(home, "datanode.toml"), dataNodeFile(files));
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
    "cluster.shards": String(DEMO_SHARDS),
    "cluster.replicas": "1",
    "cluster.log_size": DEMO_LOG_SIZE,
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
