/** A node's side of the wire in a test, over shards that it is given. */
import type { Clock } from "../../../src/base/clock.ts";
import { type Logger, silentLogger } from "../../../src/base/log.ts";
import { MemoryPool, ServerMemory } from "../../../src/base/memory/server-memory.ts";
import { MetricRegistry } from "../../../src/base/metrics.ts";
import { Scheduler } from "../../../src/base/scheduler/scheduler.ts";
import type { ShardHost } from "../../../src/cluster/shard/shard-host.ts";
import type { PartListener } from "../../../src/cluster/serve/internal-listener.ts";
import { type ShardListenerOptions, startShardListener } from "../../../src/cluster/serve/listener.ts";
import { type RunningLimits, RunningRequests } from "../../../src/cluster/serve/running-requests.ts";
import { type ServeMetrics, serveMetrics } from "../../../src/cluster/serve/serve-metrics.ts";
import { type FollowedCatalog, type ShardHosts, ShardService } from "../../../src/cluster/serve/shard-service.ts";
import type { QueryWorkers } from "../../../src/query/operator/contract/query-workers.ts";

/** How a node differs from the plain one. */
export interface ShardNodeOptions {
  readonly catalog?: FollowedCatalog;
  readonly logger?: Logger;
  readonly memoryBytesMax?: number;
  readonly poolBytesMax?: number;
  readonly running?: RunningLimits;
  readonly reachMillis?: number;
  readonly workers?: QueryWorkers;
  readonly clock?: Clock;
  /** Where its shards are known. Default: `ShardNode.hosts`. */
  readonly shards?: ShardHosts;
}

/** See the file header. */
export class ShardNode {
  readonly hosts: Map<number, ShardHost> = new Map();
  readonly running: RunningRequests;
  readonly registry: MetricRegistry = new MetricRegistry();
  readonly metrics: ServeMetrics;
  readonly pool: MemoryPool;
  readonly service: ShardService;
  /** Whether it is a member, which an operator may tell to drain; how often one did. */
  isMember = true;
  drains = 0;
  private readonly scheduler: Scheduler;
  private readonly logger: Logger;

  constructor(options: ShardNodeOptions = {}) {
    const { catalog = { reach: () => Promise.resolve() }, logger = silentLogger, poolBytesMax = Number.POSITIVE_INFINITY } = options;
    const { memoryBytesMax = Number.POSITIVE_INFINITY, running, reachMillis, workers } = options;
    this.logger = logger;
    this.scheduler = new Scheduler(options.clock);
    this.running = new RunningRequests(this.scheduler.clock, running);
    this.metrics = serveMetrics(this.registry, this.running);
    this.pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", poolBytesMax);
    this.service = new ShardService({
      hosts: options.shards ?? this.hosts,
      catalog,
      running: this.running,
      scheduler: this.scheduler,
      logger,
      metrics: this.metrics,
      pool: this.pool,
      memoryBytesMax,
      workers,
      ...(reachMillis === undefined ? {} : { reachMillis }),
    });
  }

  private beginDraining(): boolean {
    if (this.isMember) this.drains++;
    return this.isMember;
  }

  /** Has it listen on this machine, at any port that is free. */
  listen(options: Partial<ShardListenerOptions> = {}): PartListener {
    const { service, registry, metrics, pool, scheduler, logger } = this;
    return startShardListener(
      { hostname: "127.0.0.1", port: 0, ...options },
      { service, drain: () => this.beginDraining(), registry, metrics, pool, clock: scheduler.clock, logger },
    );
  }
}
