/** `NewCluster` over a cluster in memory. */
import type { FirstNumbers, NewCluster } from "../../../src/cluster/port/new-cluster.ts";
import { PortError } from "../../../src/cluster/port/port-error.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";
import type { MemoryStream } from "./memory-stream.ts";

/** See the file header. @param identity no other client has it */
export function memoryNewCluster(cluster: MemoryCluster, identity = "restore"): NewCluster {
  const port = memoryPort(cluster, identity);
  const begin = (stream: MemoryStream, first: number): void => {
    if (stream.lastNumber === 0) stream.lastNumber = first - 1;
  };
  return {
    ordered: port.ordered,
    messageBytesMax: port.messageBytesMax,
    async check({ logs }) {
      const isThere = cluster.stream("CATALOG").messages.length > 0;
      if (isThere) throw new PortError("denied", "there is a cluster here already");
      for (const [shard, { first, last }] of logs.entries()) {
        const { lastNumber } = cluster.stream(`LOG${shard}`);
        const isOther = lastNumber !== 0 && (lastNumber < first - 1 || lastNumber > Math.max(last, first - 1));
        if (isOther) throw new PortError("denied", `cannot restore into stream LOG${shard}: it is there already`);
      }
    },
    async make({ logs, catalog }: FirstNumbers) {
      begin(cluster.stream("CATALOG"), catalog);
      for (const [shard, { first }] of logs.entries()) begin(cluster.stream(`LOG${shard}`), first);
    },
    async putRecord(shard, number, record) {
      const stream = cluster.stream(`LOG${shard}`);
      if (stream.lastNumber === number - 1) return void stream.append(`log.${shard}`, record);
      const there = stream.messages.find((message) => message.number === number);
      if (there !== undefined && Buffer.from(there.bytes).equals(record)) return;
      throw new PortError("denied", `cannot put message ${number} into the log of shard ${shard}: another is there`);
    },
    close: () => port.close(),
  };
}
