/** Whether the server answers: the contract's own check, and that of gRPC, which probes of orchestrators know. Both need no credentials. */
import { HealthCheck } from "../../../../proto/gen/greptime/v1/health_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../../proto/gen/grpc/health/v1/health_pb.js";
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Db } from "../../../db/db.ts";
import { type GrpcService, grpcService } from "../service.ts";

/** How often a watched status is looked at, milliseconds. */
const LOOK_MS = 1000;

/** `greptime.v1.HealthCheck`: it answers. */
export function greptimeHealthService(): GrpcService {
  return grpcService(HealthCheck, { healthCheck: () => ({}) });
}

/** `grpc.health.v1.Health`. @param served full names of the services that are mounted */
export function healthService(db: Pick<Db, "health">, served: ReadonlySet<string>): GrpcService {
  const statusOf = (name: string): Status => {
    if (name !== "" && !served.has(name)) return Status.SERVICE_UNKNOWN;
    return db.health().ok ? Status.SERVING : Status.NOT_SERVING;
  };
  return grpcService(Health, {
    check({ service }) {
      const status = statusOf(service);
      if (status === Status.SERVICE_UNKNOWN) throw new DbError(StatusCode.TableNotFound, `there is no service ${service.slice(0, 200)}`);
      return { status };
    },
    async *watch({ service }, { signal }) {
      let told: Status | undefined;
      while (!signal.aborted) {
        const status = statusOf(service);
        if (status !== told) yield { status };
        told = status;
        // Ends early when the client leaves, which the loop's condition sees.
        await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    },
  });
}
