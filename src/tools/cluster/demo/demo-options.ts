/** The command line of `varve cluster demo`. */
import { isIP } from "node:net";
import { ConfigError, EXIT_USAGE } from "../../../config/config-error.ts";
import { type Flag, readFlags } from "../../../config/flag.ts";
import { countOf } from "../../common/count-flag.ts";

/** Most processes of a kind. Reason: they share one machine. */
const PROCESSES_MAX = 8;
/** Ports that each frontend takes, one after the other: HTTP, gRPC, MySQL, PostgreSQL. */
const PORTS_EACH = 4;
/** Distance of two frontends' ports. */
const PORTS_APART = 10;
const PORT_MAX = 65_535;

/** Flags of the demo. */
export const DEMO_FLAGS: readonly Flag[] = [
  { name: "frontends", value: "<n>", help: "frontends (default: 1); each further one listens 10 ports further" },
  { name: "datanodes", value: "<n>", help: "data nodes (default: 2)" },
  { name: "data-home", value: "<folder>", help: "where everything is kept (default: ./varve_demo)" },
  {
    name: "http-addr",
    value: "<ip:port>",
    help: "where the first frontend listens; gRPC, MySQL, PostgreSQL behind it (default: 127.0.0.1:4000)",
  },
  { name: "log-level", value: "<filter>", help: "of all parts (default: info)" },
];

/** What the demo is asked for. */
export interface DemoOptions {
  readonly frontends: readonly FrontendAddresses[];
  readonly datanodes: number;
  readonly dataHome: string;
  readonly logLevel: string;
}

/** Where a frontend listens: `ip:port` each. */
export interface FrontendAddresses {
  readonly http: string;
  readonly grpc: string;
  readonly mysql: string;
  readonly postgres: string;
}

/** @throws ConfigError (exit 2) */
export function readDemoOptions(args: readonly string[]): DemoOptions {
  const flags = readFlags(args, DEMO_FLAGS);
  if (flags.words[0] !== undefined) throw new ConfigError(`cluster demo takes no argument "${flags.words[0]}": see --help`, EXIT_USAGE);
  const frontends = countOf(flags, "frontends", 1, PROCESSES_MAX);
  const address = flags.values.get("http-addr") ?? "127.0.0.1:4000";
  return {
    frontends: Array.from({ length: frontends }, (_, index) => addressesOf(address, index)),
    datanodes: countOf(flags, "datanodes", 2, PROCESSES_MAX),
    dataHome: flags.values.get("data-home") ?? "./varve_demo",
    logLevel: flags.values.get("log-level") ?? "info",
  };
}

function addressesOf(text: string, index: number): FrontendAddresses {
  const [, six, four, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const first = port === 0 ? 0 : port + index * PORTS_APART;
  const isAddress = isIP(six ?? four ?? "") === (six === undefined ? 4 : 6);
  if (!isAddress || first + PORTS_EACH - 1 > PORT_MAX) {
    throw new ConfigError(`cannot use --http-addr ${text.slice(0, 60)}: want an IP address and a port such as 127.0.0.1:4000`, EXIT_USAGE);
  }
  const at = (offset: number): string => `${six === undefined ? four : `[${six}]`}:${first === 0 ? 0 : first + offset}`;
  return { http: at(0), grpc: at(1), mysql: at(2), postgres: at(3) };
}
