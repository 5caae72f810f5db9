/** Troubles of a cluster in memory, one after the other until somebody ends them. */
import { type FaultRates, type MemoryCluster, NO_FAULTS } from "./memory-cluster.ts";

/** Rates at which everything happens now and then. */
export const ROUGH: FaultRates = { slow: 0.05, requestLost: 0.03, answerLost: 0.03, doubled: 0.03, refused: 0.03 };

/** Elects, cuts clients off and stops them, until the returned function is called. After that nothing goes wrong any more. */
export function startChaos(cluster: MemoryCluster, clients: readonly string[]): () => void {
  const { random, time } = cluster;
  let isOver = false;
  const next = (): void => {
    if (isOver) return;
    const client = clients[random.below(clients.length)] ?? "";
    const kind = random.below(3);
    if (kind === 0) cluster.elect(500 + random.below(9000));
    else if (kind === 1) cluster.cut(client, 500 + random.below(15_000));
    else cluster.stop(client, 500 + random.below(10_000));
    time.after(1000 + random.below(20_000), next);
  };
  time.after(1000, next);
  return () => {
    isOver = true;
    cluster.rates = NO_FAULTS;
  };
}
