/** A `ShardClient` to nodes of this process: all but HTTP is the real thing, bytes and their checks among it. */
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { throwIfCancelled } from "../../../src/base/scheduler/cancel.ts";
import type { LogService } from "../../../src/cluster/port/log-service.ts";
import type { ShardService } from "../../../src/cluster/serve/shard-service.ts";
import { NodeShardClient } from "../../../src/cluster/wire/node-shard-client.ts";
import type { Owners } from "../../../src/cluster/wire/owner-search.ts";
import { type NodeRequest, type NodeTransport, NotAnswered } from "../../../src/cluster/wire/node-transport.ts";

/** Nodes by their addresses. Who is taken out is dead: its answers end where they are. */
export type NodesHere = ReadonlyMap<string, Pick<ShardService, "fragment" | "call">>;

class InProcessTransport implements NodeTransport {
  private readonly nodes: NodesHere;
  private readonly onWay: (() => Promise<void>) | undefined;

  constructor(nodes: NodesHere, onWay: (() => Promise<void>) | undefined) {
    this.nodes = nodes;
    this.onWay = onWay;
  }

  async *ask({ address, path, body }: NodeRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    throwIfCancelled(signal);
    await this.onWay?.();
    throwIfCancelled(signal);
    const node = this.nodes.get(address);
    if (node === undefined) throw new NotAnswered(`cannot ask node ${address}: nobody is there`, false);
    const left = new AbortController();
    const end = (): void => left.abort();
    signal.addEventListener("abort", end, { once: true });
    try {
      const request = body.slice(); // Nobody here changes it, and it is seen that the node does not either.
      const pieces = path === "/v1/shard/fragment" ? node.fragment(request, "here", left.signal) : node.call(request, "here", left.signal);
      for await (const piece of pieces) {
        await this.onWay?.();
        throwIfCancelled(signal);
        if (this.nodes.get(address) !== node) throw new NotAnswered(`cannot ask node ${address}: it is gone`, true);
        yield piece.slice();
      }
      throwIfCancelled(signal);
    } finally {
      signal.removeEventListener("abort", end);
      left.abort();
    }
  }
}

/** How a client differs from the plain one. */
export interface InProcessOptions {
  /** How long it looks for an owner that answers. Default: as over HTTP. */
  readonly ownerMillis?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** What a request, and each piece of an answer, waits on its way. Default: nothing. */
  readonly onWay?: () => Promise<void>;
}

/** A client of nodes that are here. */
export function inProcessShardClient(
  shards: number,
  nodes: NodesHere,
  owners: Owners,
  log: Pick<LogService, "last">,
  { ownerMillis, clock = systemClock, onWay }: InProcessOptions = {},
): NodeShardClient {
  const transport = new InProcessTransport(nodes, onWay);
  return new NodeShardClient({
    shards,
    owners,
    transport,
    log,
    clock,
    ...(ownerMillis === undefined ? {} : { ownerMillis }),
  });
}
