/** All doors that writers of a crash campaign use. */
import type { Door } from "./door.ts";
import { lineDoor } from "./line.ts";
import { lokiDoor } from "./loki.ts";
import { otlpDoor } from "./otlp.ts";
import { doputDoor } from "./doput.ts";
import { flightSqlIngestDoor } from "./flight-sql-ingest.ts";
import { nativeColumnsDoor, nativeDoor, nativeStreamDoor } from "./native.ts";
import { otlpGrpcLogsDoor, otlpGrpcMetricsDoor } from "./otlp-grpc.ts";
import { pipelineDoor } from "./pipeline.ts";
import { remoteWriteDoor } from "./remote-write.ts";

/** Writers take them in turn, so that the first ones are there with few writers too. */
export const DOORS: readonly Door[] = [
  lineDoor,
  remoteWriteDoor,
  lokiDoor,
  pipelineDoor,
  otlpDoor,
  nativeDoor,
  nativeStreamDoor,
  nativeColumnsDoor,
  doputDoor,
  flightSqlIngestDoor,
  otlpGrpcMetricsDoor,
  otlpGrpcLogsDoor,
];

/** The door of a writer among some. */
export function doorOf(writer: number, doors: readonly Door[]): Door {
  return doors[writer % doors.length]!;
}
