/** The server of NATS of a demo without its parts: for who makes what the demo then starts with. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { NatsOptions } from "../../../cluster/nats/nats-options.ts";
import { lockFolder } from "../../../storage/data-directory.ts";
import type { ToolIo } from "../../tool.ts";
import { Children } from "./children.ts";
import { DEMO_LOG_BYTES, DEMO_SHARDS, monitorOf, natsProgramOf, newServerFacts, realWorld, startDemoNats } from "./demo-server.ts";

const LEASE_SECONDS = 3;
const CALL_MILLIS = 5000;

/**
 * Starts it, does some work and ends it. Where the work fails, what NATS keeps is deleted again if there was nothing before.
 *
 * @param folder `--data-home` of the demo
 * @param work is given a data node's way to NATS, and the folder of data files
 * @throws DbError; what `work` throws
 */
export async function withDemoNats(
  folder: string,
  io: ToolIo,
  work: (options: NatsOptions, store: string) => Promise<void>,
): Promise<void> {
  const world = realWorld(io.env);
  const program = natsProgramOf(world);
  const home = resolve(folder);
  const nats = join(home, "nats");
  const unlock = await lockFolder(home, "folder", "--demo");
  const isNew = !existsSync(nats);
  const children = new Children(world.spawn, (line) => io.err(`${line}\n`));
  const killAll = (): void => children.killAll();
  process.once("exit", killAll); // A second signal ends the process at once.
  let isDone = false;
  try {
    const facts = newServerFacts(home);
    await startDemoNats(facts, program, world, children, io);
    const options: NatsOptions = {
      servers: [`nats://127.0.0.1:${facts.ports.clients}`],
      credentials: { kind: "password", user: "datanode", password: facts.passwordOf("datanode") },
      tls: undefined,
      checks: { system: undefined, monitors: [monitorOf(facts.ports)] },
      identity: `demo-${process.pid}`,
      shards: DEMO_SHARDS,
      replicas: 1,
      logBytesMax: DEMO_LOG_BYTES,
      leaseSeconds: LEASE_SECONDS,
      callMillis: CALL_MILLIS,
    };
    await work(options, join(home, "store"));
    isDone = true;
  } finally {
    await children.end();
    process.off("exit", killAll);
    if (!isDone && isNew) await rm(nats, { recursive: true, force: true });
    unlock();
  }
}
