/** `NewCluster` over a cluster in memory. */
import type { FirstNumbers, NewCluster } from "../../../src/cluster/port/new-cluster.ts";
import { PortError } from "../../../src/cluster/port/port-error.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";

/** See the file header. @param identity no other client has it */
export function memoryNewCluster(cluster: MemoryCluster, identity = "restore"): NewCluster {
  const port = memoryPort(cluster, identity);
  const check = (name: string, first: number, last: number): void => {
    const { lastNumber, messages } = cluster.stream(name);
    if (lastNumber === 0) return; // As if it were not there.
    const its = messages[0]?.number ?? lastNumber + 1;
    const why = its === first ? `has message ${lastNumber}` : `begins with message ${its} instead of ${first}`;
    if (its === first && lastNumber <= Math.max(last, first - 1)) return;
    throw new PortError("denied", `cannot restore into stream ${name}: it is there already, and ${why}`);
  };
  const checkAll = ({ logs, catalog }: FirstNumbers): void => {
    if (cluster.stream("CATALOG").messages.length > 0) throw new PortError("denied", "there is a cluster here already");
    check("CATALOG", catalog, catalog - 1);
    for (const [shard, { first, last }] of logs.entries()) check(`LOG${shard}`, first, last);
  };
  const begin = (name: string, first: number): void => {
    const stream = cluster.stream(name);
    if (stream.lastNumber === 0) stream.lastNumber = first - 1;
  };
  return {
    ordered: port.ordered,
    messageBytesMax: port.messageBytesMax,
    check: async (first) => checkAll(first),
    async make(first) {
      checkAll(first);
      begin("CATALOG", first.catalog);
      for (const [shard, log] of first.logs.entries()) begin(`LOG${shard}`, log.first);
    },
    async putRecord(shard, number, record) {
      const stream = cluster.stream(`LOG${shard}`);
      if (stream.lastNumber === number - 1) return void stream.append(`log.${shard}`, record);
      const there = stream.messages.find((message) => message.number === number);
      if (there !== undefined && Buffer.from(there.bytes).equals(record)) return;
      const why = there === undefined ? "the one before is missing" : "another is there";
      throw new PortError("denied", `cannot put message ${number} into the log of shard ${shard}: ${why}`);
    },
    close: () => port.close(),
  };
}
