import type { RemoteWriteOptions } from "../../../src/ingest/prometheus/types.ts";

/** Settings of a remote write decoder as a server without changes has them, but for the names of tables that it takes. */
export const REMOTE_WRITE: RemoteWriteOptions = {
  validation: "strict",
  metricEngine: true,
  physicalTable: "physical",
  timeColumn: "greptime_timestamp",
  valueColumn: "greptime_value",
  acceptsTable: () => true,
};
