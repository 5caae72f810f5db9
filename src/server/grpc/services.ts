/** The services that the gRPC server serves: one line each. */
import type { Db } from "../../db/db.ts";
import { flightService } from "./flight/flight-service.ts";
import { greptimeHealthService, healthService } from "./services/health.ts";
import type { GrpcService } from "./service.ts";

/** What services work with. */
export interface ServiceParts {
  readonly db: Db;
  /** Whether the buffers of Flight's batches are compressed (`grpc.flight_compression`). */
  readonly compressesBatches: boolean;
}

/** All of them. */
export function servicesOf({ db, compressesBatches }: ServiceParts): readonly GrpcService[] {
  const services: GrpcService[] = [
    greptimeHealthService(),
    flightService({ db, compression: compressesBatches ? "lz4" : undefined, flightSql: undefined, handle: undefined }),
  ];
  const served = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return [...services, healthService(db, served)];
}
