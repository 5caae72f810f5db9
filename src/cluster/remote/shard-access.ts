/** How tables reach the rows of shards: the client, and what a shard must have seen before it answers. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ShardClient } from "../wire/shard-client.ts";
import type { ShardMoment } from "../wire/shard-request.ts";

/** What reads see at least. */
export interface Moments {
  /** Of the catalogue, as this process has it. */
  catalogVersion(): number;
  /**
   * Number of the last record of a shard's log that this process was acknowledged, where that is all that its reads have to see.
   * Absent: they see what anybody was acknowledged before they began.
   */
  readonly ownLast?: (shard: number) => number;
}

/** See the file header. */
export class ShardAccess {
  readonly client: ShardClient;
  readonly clock: Clock;
  readonly logger: Logger;
  private readonly moments: Moments;

  constructor(client: ShardClient, moments: Moments, clock: Clock, logger: Logger) {
    this.client = client;
    this.moments = moments;
    this.clock = clock;
    this.logger = logger;
  }

  /** What a shard must have seen that is asked now. @throws DbError StorageUnavailable */
  async moment(shard: number): Promise<ShardMoment> {
    const { client, moments } = this;
    const least = moments.ownLast === undefined ? await client.newest(shard) : moments.ownLast(shard);
    return { catalogVersion: moments.catalogVersion(), least };
  }
}
