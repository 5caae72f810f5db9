/** The services that the gRPC server serves: one line each. */
import { greptimeDatabaseService, type GreptimeDatabaseParts } from "./services/greptime-database.ts";
import { type OtlpParts, otlpServices } from "./services/otlp.ts";
import { greptimeHealthService, healthService } from "./services/health.ts";
import type { GrpcService } from "./service.ts";

/** What services work with. */
export type ServiceParts = OtlpParts & GreptimeDatabaseParts;

/** All of them. */
export function servicesOf(parts: ServiceParts): readonly GrpcService[] {
  const services: GrpcService[] = [greptimeHealthService(), greptimeDatabaseService(parts), ...otlpServices(parts)];
  const served = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return [...services, healthService(parts.db, served)];
}
