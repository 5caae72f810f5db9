/**
 * The formats by name.
 */
import { arrow } from "./arrow.ts";
import { csv, csvWithNames, csvWithNamesAndTypes } from "./csv.ts";
import type { ResultFormat } from "./format.ts";
import { greptimeV1 } from "./greptime-v1.ts";
import { influxdbV1 } from "./influxdb-v1.ts";
import { json } from "./json.ts";
import { nullFormat } from "./null.ts";
import { table } from "./table.ts";

const FORMATS: ReadonlyMap<string, ResultFormat> = new Map([
  ["greptimedb_v1", greptimeV1],
  ["influxdb_v1", influxdbV1],
  ["csv", csv],
  ["csvwithnames", csvWithNames],
  ["csvwithnamesandtypes", csvWithNamesAndTypes],
  ["table", table],
  ["json", json],
  ["null", nullFormat],
  ["arrow", arrow],
]);

/** The format of that name, in any case; an unknown or absent name means `greptimedb_v1` (contract http.md 2.1). */
export function formatOf(name: string | undefined): ResultFormat {
  return FORMATS.get(name?.toLowerCase() ?? "") ?? greptimeV1;
}
