/** Who owns which shard, as a test says it: what frontends find owners by, without leases. */
import type { Directory, ShardOwner } from "../../../src/cluster/ownership/directory.ts";
import type { ClusterTime } from "./cluster-time.ts";

/** How often there is news, though nothing changed: nodes tell of themselves each second. */
const NEWS_MILLIS = 1000;

/** Where a node of a test listens. */
export function addressOf(node: string): string {
  return `${node}:3001`;
}

/** See the file header. */
export class OwnerTable implements Directory {
  readonly started: Promise<void> = Promise.resolve();
  private readonly time: ClusterTime;
  private readonly owners: Map<number, ShardOwner> = new Map();
  private next: PromiseWithResolvers<void> | undefined;

  constructor(time: ClusterTime) {
    this.time = time;
  }

  /** Says whose a shard is. @param node undefined: nobody's */
  set(shard: number, node: string | undefined, epoch: number = 0): void {
    if (node === undefined) this.owners.delete(shard);
    else this.owners.set(shard, { shard, nodeId: node, address: addressOf(node), identity: node, epoch });
    this.tell();
  }

  ownerOf(shard: number): ShardOwner | undefined {
    return this.owners.get(shard);
  }

  nextChange(): Promise<void> {
    if (this.next === undefined) {
      const next = Promise.withResolvers<void>();
      this.next = next;
      this.time.after(NEWS_MILLIS, () => {
        if (this.next === next) this.tell();
      });
    }
    return this.next.promise;
  }

  claimOf(): undefined {
    return undefined;
  }

  nodes(): readonly [] {
    return [];
  }

  frontends(): readonly [] {
    return [];
  }

  lagOf(): undefined {
    return undefined;
  }

  isBehind(): boolean {
    return false;
  }

  private tell(): void {
    const { next } = this;
    this.next = undefined;
    next?.resolve();
  }
}
