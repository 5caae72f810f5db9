/** The services that the gRPC server serves: one line each. */
import type { Db } from "../../db/db.ts";
import { greptimeHealthService, healthService } from "./services/health.ts";
import type { GrpcService } from "./service.ts";

/** What services work with. */
export interface ServiceParts {
  readonly db: Db;
}

/** All of them. */
export function servicesOf({ db }: ServiceParts): readonly GrpcService[] {
  const services: GrpcService[] = [greptimeHealthService()];
  const served = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return [...services, healthService(db, served)];
}
