/** The texts of `--help` and `--version`. */
import type { Flag } from "./flag.ts";
import { HASH_FLAGS } from "./hash-password-command.ts";
import { KNOB_OF_KEY } from "./knobs.ts";
import type { Role } from "./role.ts";
import { FLAGS_OF, START_FLAGS, type StartFlag } from "./start-flags.ts";

/** Which build is running. */
export interface Build {
  readonly version: string;
  /** Empty when unknown. */
  readonly commit: string;
  /** Empty when unknown. */
  readonly branch: string;
}

/** A command beside the server, as the help lists it. */
export interface HelpLine {
  readonly name: string;
  readonly summary: string;
}

/** The help of the start command: examples, commands, then flags with their defaults. */
export function startHelp(tools: readonly HelpLine[] = []): string {
  return `Varve: a time-series database for metrics, logs and traces.

Examples:
  varve                                        start, listen on 127.0.0.1:4000, keep data in ./varve_data
  varve --http-addr 0.0.0.0:4000 --data-home /var/lib/varve
  varve standalone start -c varve.toml         settings from a file
  VARVE__WAL__SYNC=interval varve              settings from the environment
  varve --user-provider static_user_provider:file:users.txt
  varve user hash-password --password-stdin    print a password's hash for that file

Usage:
  varve [standalone start] [flags]
  varve frontend start [flags]                 parts of a cluster, each with a --help of its own
  varve datanode start [flags]
  varve user hash-password [flags]
${toolLines(tools)}
Flags:
${flagLines(START_FLAGS)}

A flag wins over the file, the file over the environment, the environment over the default.
A running server shows every setting in force at http://127.0.0.1:4000/config.
`;
}

/** The help of a part of a cluster. */
export function roleHelp(role: Exclude<Role, "standalone">): string {
  return `${PART_HELPS[role]}
Flags:
${flagLines(FLAGS_OF[role])}

A flag wins over the file, the file over the environment, the environment over the default.
Secrets belong into the environment or a file: VARVE__CLUSTER__SECRET, VARVE__CLUSTER__NATS__PASSWORD.
docs/cluster.md tells what a cluster is, docs/cluster-runbook.md how to run one.
`;
}

const PART_HELPS: Readonly<Record<Exclude<Role, "standalone">, string>> = {
  frontend: `Starts a frontend of a cluster: it takes writes and queries of clients, and keeps nothing.

Examples:
  varve frontend start --metasrv-addrs nats://10.0.0.1:4222,nats://10.0.0.2:4222 --http-addr 0.0.0.0:4000
  varve frontend start -c frontend.toml

Usage:
  varve frontend start [flags]
`,
  datanode: `Starts a data node of a cluster: it owns shards, whose rows it follows, stores and reads for frontends.

Examples:
  varve datanode start --metasrv-addrs nats://10.0.0.1:4222 --node-id node-1 --rpc-bind-addr 10.0.0.11:3001
  varve datanode start -c datanode.toml

Usage:
  varve datanode start [flags]
`,
};

/** The help of `user hash-password`. */
export function hashPasswordHelp(): string {
  return `Prints the hash of a password, to stand after \`<user>=\` in an account file.

Examples:
  echo "$PASSWORD" | varve user hash-password --password-stdin
  varve user hash-password --password-stdin --format pg_scram_sha256 --iterations 100000

Usage:
  varve user hash-password (--password <password> | --password-stdin) [flags]

Flags:
${flagLines(HASH_FLAGS)}
`;
}

/** The text of `-V` (the version) and `--version` (with branch and commit). */
export function versionText(build: Build, isLong: boolean): string {
  if (!isLong) return `varve ${build.version}\n`;
  return `varve\nbranch: ${build.branch || "unknown"}\ncommit: ${build.commit || "unknown"}\nversion: ${build.version}\n`;
}

function toolLines(tools: readonly HelpLine[]): string {
  if (tools.length === 0) return "";
  const width = Math.max(...tools.map(({ name }) => name.length));
  const lines = tools.map(({ name, summary }) => `  varve ${name.padEnd(width)}  ${summary}`);
  return `\nTools, each with a --help of its own:\n${lines.join("\n")}\n`;
}

function flagLines(flags: readonly StartFlag[]): string {
  const rows = flags.filter((flag) => flag.hidden !== true).map((flag) => [flagUsage(flag), flag.help + defaultOf(flag)] as const);
  const width = Math.max(...rows.map(([usage]) => usage.length));
  return rows.map(([usage, help]) => `  ${usage.padEnd(width)}  ${help}`).join("\n");
}

function flagUsage(flag: Flag): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  return `${short}--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`;
}

function defaultOf(flag: StartFlag): string {
  const knob = flag.key === undefined || flag.value === undefined ? undefined : KNOB_OF_KEY.get(flag.key);
  const text = knob?.kind.toToml(knob.default);
  return text === undefined || text === "[]" ? "" : ` (default: ${text.replaceAll('"', "")})`;
}
