/** The services that the gRPC server serves: one line each. */
import type { Clock } from "../../base/clock.ts";
import type { Db } from "../../db/db.ts";
import type { KeptMemory } from "../../query/kept-statements.ts";
import { flightSqlDoor } from "./flight-sql/door.ts";
import { FlightSql } from "./flight-sql/flight-sql.ts";
import { flightService } from "./flight/flight-service.ts";
import { greptimeDatabase, type GreptimeDatabaseParts } from "./services/greptime-database.ts";
import { type OtlpParts, otlpServices } from "./services/otlp.ts";
import { greptimeHealthService, healthService } from "./services/health.ts";
import { prometheusGateway, type PrometheusGatewayParts } from "./services/prometheus-gateway.ts";
import { reflectionServices } from "./services/reflection.ts";
import type { GrpcService } from "./service.ts";

/** What services work with. */
export interface ServiceParts extends OtlpParts, GreptimeDatabaseParts, PrometheusGatewayParts {
  readonly db: Db;
  readonly influx: OtlpParts["influx"];
  /** How Flight's answers are compressed (`grpc.flight_compression`). */
  readonly flightCompression: "none" | "transport" | "arrow_ipc" | "all";
  /** Of prepared statements of Flight SQL, which all clients share. */
  readonly kept: KeptMemory;
  readonly clock: Clock;
  /** Of the server, for who asks. */
  readonly version: string;
}

/** All of them. */
export function servicesOf(parts: ServiceParts): readonly GrpcService[] {
  const { db, clock, scheduler, kept: memory, version, flightCompression: asked } = parts;
  const flightSql = flightSqlDoor(new FlightSql({ db, memory, scheduler, now: () => clock.monotonicMillis(), version }));
  const database = greptimeDatabase(parts);
  const compression = asked === "arrow_ipc" || asked === "all" ? "lz4" : undefined;
  const packsMessages = asked === "transport" || asked === "all";
  const flight = flightService({ ...parts, db, clock, compression, packsMessages, flightSql, handle: database.run });
  const services: GrpcService[] = [greptimeHealthService(), database.service, prometheusGateway(parts), flight, ...otlpServices(parts)];
  const served = new Set(services.map(({ descriptor }) => descriptor.typeName));
  services.push(healthService(db, served));
  return [...services, ...reflectionServices(services.map(({ descriptor }) => descriptor))];
}
