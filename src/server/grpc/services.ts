/** The services that the gRPC server serves: one line each. */
import type { Db } from "../../db/db.ts";
import { flightService } from "./flight/flight-service.ts";
import { greptimeDatabaseService, type GreptimeDatabaseParts } from "./services/greptime-database.ts";
import { type OtlpParts, otlpServices } from "./services/otlp.ts";
import { greptimeHealthService, healthService } from "./services/health.ts";
import type { GrpcService } from "./service.ts";

/** What services work with. */
export interface ServiceParts extends OtlpParts, GreptimeDatabaseParts {
  readonly db: Db;
  /** Whether the buffers of Flight's batches are compressed (`grpc.flight_compression`). */
  readonly compressesBatches: boolean;
}

/** All of them. */
export function servicesOf(parts: ServiceParts): readonly GrpcService[] {
  const { db, clock, compressesBatches } = parts;
  const flight = flightService({ db, clock, compression: compressesBatches ? "lz4" : undefined, flightSql: undefined, handle: undefined });
  const services: GrpcService[] = [greptimeHealthService(), greptimeDatabaseService(parts), flight, ...otlpServices(parts)];
  const served = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return [...services, healthService(db, served)];
}
