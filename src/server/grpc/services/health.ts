/** Whether the server answers: the contract's own check, and that of gRPC, which probes of orchestrators know. Both need no credentials. */
import { HealthCheck } from "../../../../proto/gen/greptime/v1/health_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../../proto/gen/grpc/health/v1/health_pb.js";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Db } from "../../../db/db.ts";
import { type GrpcService, grpcService, type MethodsOf, OPEN_MESSAGE_BYTES_MAX } from "../service.ts";

/** How often a watched status is looked at, milliseconds. */
const LOOK_MS = 1000;

/** `greptime.v1.HealthCheck`: it answers. */
export function greptimeHealthService(): GrpcService {
  return grpcService(HealthCheck, { healthCheck: () => ({}) }, { messageBytesMax: OPEN_MESSAGE_BYTES_MAX });
}

/** `grpc.health.v1.Health`. @param served full names of the services that are mounted */
export function healthService(db: Pick<Db, "health">, served: ReadonlySet<string>): GrpcService {
  const statusOf = (name: string): Status => {
    if (name !== "" && !served.has(name)) return Status.SERVICE_UNKNOWN;
    return db.health().ok ? Status.SERVING : Status.NOT_SERVING;
  };
  const methods: MethodsOf<typeof Health> = {
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
        await lookLater(signal);
      }
    },
  };
  return grpcService(Health, methods, { messageBytesMax: OPEN_MESSAGE_BYTES_MAX });
}

/** Resolves when it is time for the next look, or the client left. */
function lookLater(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, LOOK_MS);
    timer.unref();
    signal.addEventListener("abort", end, { once: true });
  });
}
