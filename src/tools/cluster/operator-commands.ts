/** `varve cluster status`, `drain` and `rebalance`. */
import { systemClock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { InternalAccess } from "../../config/nats-access.ts";
import { counted } from "../common/shown.ts";
import type { ToolIo } from "../tool.ts";
import { nodeAccessOf, Operator, readAsked } from "./operator.ts";
import { STATUS_FLAGS } from "./operator-flags.ts";
import { rebalanceText, statusText, troublesOf } from "./status-text.ts";

const LOOK_MILLIS = 1000;
/** Longest wait for a node's answer, in milliseconds. */
const ASK_MILLIS = 10_000;

/** Prints what the cluster is at the moment. @returns 1 when something is not as it should be */
export async function runStatus(args: readonly string[], io: ToolIo): Promise<number> {
  const { flags, settings } = readAsked(args, STATUS_FLAGS, io, noWords("status"));
  const operator = await Operator.open(settings);
  try {
    const view = await operator.view();
    const troubles = troublesOf(view);
    const { server, frontends, nodes, shards, streams } = view;
    const json = { server, frontends, nodes, shards, streams: [...streams.values()], troubles };
    await io.out(flags.values.has("json") ? `${JSON.stringify(json)}\n` : statusText(view, systemClock.nowMillis()));
    return troubles.length === 0 ? 0 : 1;
  } finally {
    await operator.close();
  }
}

function noWords(command: string): (words: readonly string[]) => void {
  return ([word]) => {
    if (word !== undefined) throw new ConfigError(`cluster ${command} takes no arguments: see --help`, EXIT_USAGE);
  };
}

function onlyWord([word, second]: readonly string[]): string {
  if (word !== undefined && second === undefined) return word;
  throw new ConfigError("cluster drain takes the name of one data node: see cluster status", EXIT_USAGE);
}

/** Has a data node give its shards away, and waits until it has none. */
export async function runDrain(args: readonly string[], io: ToolIo): Promise<number> {
  let id = "";
  const { settings } = readAsked(args, [], io, (words) => void (id = onlyWord(words)));
  const operator = await Operator.open(settings);
  try {
    const { nodes } = await operator.view();
    const node = nodes.find((known) => known.id === id);
    if (node === undefined) {
      const names = nodes.map((known) => known.id).join(", ");
      throw new DbError(
        StatusCode.InvalidArguments,
        `no data node "${id}" lives: ${names === "" ? "there is none" : `there are ${names}`}`,
      );
    }
    if (nodes.every((known) => known.id === id || known.isDraining)) {
      throw new DbError(StatusCode.InvalidArguments, `cannot drain ${id}: there is no other data node that takes its shards`);
    }
    await askToDrain(node.address, nodeAccessOf(settings));
    return await waitUntilEmpty(operator, id, io);
  } finally {
    await operator.close();
  }
}

async function waitUntilEmpty(operator: Operator, id: string, io: ToolIo): Promise<number> {
  let left = -1;
  while (!io.interrupted.aborted) {
    const { nodes, shards } = await operator.view();
    const node = nodes.find((known) => known.id === id);
    const its = shards.filter(({ nodeId }) => nodeId === id).length;
    if (its !== left && its > 0) io.err(`${id} has ${counted(its, "shard")} left\n`);
    left = its;
    if (its === 0) {
      await io.out(
        `${id} has no shards${node === undefined ? ", and is gone" : "; stop it now: it takes none until it is started again"}\n`,
      );
      return 0;
    }
    await Bun.sleep(LOOK_MILLIS);
  }
  io.err(`${id} goes on without us\n`);
  return 130;
}

/** @throws DbError: the node does not answer, or refuses */
async function askToDrain(address: string, { secret, tlsMode, tls }: InternalAccess): Promise<void> {
  const what = `cannot tell data node ${address} to drain`;
  let answer: Response;
  try {
    answer = await fetch(`${tlsMode === "disable" ? "http" : "https"}://${address}/v1/node/drain`, {
      method: "POST",
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(ASK_MILLIS),
      ...(tlsMode === "disable" ? {} : { tls: definedOf(tls) }),
    });
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `${what}: ${errorText(cause, 200)}`, { cause });
  }
  if (answer.ok) return;
  throw new DbError(StatusCode.StorageUnavailable, `${what}: it answers ${answer.status} ${(await answer.text()).slice(0, 200)}`);
}

function definedOf({ ca, cert, key }: InternalAccess["tls"]): { ca?: string; cert?: string; key?: string } {
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
}

/** Says how shards lie, and that they move by themselves: there is nothing to ask for. */
export async function runRebalance(args: readonly string[], io: ToolIo): Promise<number> {
  const { settings } = readAsked(args, [], io, noWords("rebalance"));
  const operator = await Operator.open(settings);
  try {
    await io.out(rebalanceText(await operator.view()));
    return 0;
  } finally {
    await operator.close();
  }
}
