/** The services that the gRPC server serves: one line each. */
import { greptimeDatabaseService, type GreptimeDatabaseParts } from "./services/greptime-database.ts";
import { greptimeHealthService, healthService } from "./services/health.ts";
import type { GrpcService } from "./service.ts";

/** What services work with. */
export type ServiceParts = GreptimeDatabaseParts;

/** All of them. */
export function servicesOf(parts: ServiceParts): readonly GrpcService[] {
  const services: GrpcService[] = [greptimeHealthService(), greptimeDatabaseService(parts)];
  const served = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return [...services, healthService(parts.db, served)];
}
