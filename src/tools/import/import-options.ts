/** What flags of `varve import` say. */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";

/** What files hold. */
export const IMPORT_FORMATS = ["lines", "influx", "csv", "json", "parquet", "block"] as const;

/** A format of files: line protocol, an export of InfluxDB, tables, a block of Prometheus. */
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** See the file header. */
export interface ImportOptions {
  readonly files: readonly string[];
  readonly format: ImportFormat | undefined;
  readonly table: string | undefined;
  readonly time: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly append: boolean;
  readonly precision: string;
  readonly delimiter: string | undefined;
  readonly remote: RemoteOptions | undefined;
  readonly connections: number;
  readonly rowsMax: number;
  readonly skipsBadRows: boolean;
  readonly isDatabaseGiven: boolean;
  readonly restarts: boolean;
  readonly inDoubt: "send" | "skip" | undefined;
}

/** What is read of another server. */
export interface RemoteOptions {
  readonly url: string;
  readonly match: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The format of that name. @throws ConfigError */
export function formatNamed(name: string): ImportFormat {
  const found = IMPORT_FORMATS.find((format) => format === name.toLowerCase());
  if (found === undefined) throw new ConfigError(`unknown --format: want ${IMPORT_FORMATS.join(", ")}`, EXIT_USAGE);
  return found;
}

/** The format of a file by its name and first bytes; undefined: neither tells. */
export function formatOf(name: string, head: string): ImportFormat | undefined {
  if (head.startsWith("PAR1")) return "parquet";
  if (/^(?:# (?:INFLUXDB EXPORT|DDL|DML|CONTEXT-))/m.test(head)) return "influx";
  const plain = name.toLowerCase().replace(/\.(?:gz|gzip|zst|zstd|bz2|xz)$/, "");
  switch (/\.(\w+)$/.exec(plain)?.[1]) {
    case "csv":
      return "csv";
    case "json":
    case "jsonl":
    case "ndjson":
      return "json";
    case "parquet":
      return "parquet";
    case "lp":
    case "line":
    case "lines":
    case "txt":
    case "influx":
      return "lines";
    default:
      return undefined;
  }
}
