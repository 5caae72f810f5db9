/** The server of NATS that a demo has: its configuration, and whether one of an earlier demo is left. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NATS_PERMISSIONS, type NatsRole, permissionsBlock } from "../../../cluster/nats/permissions.ts";

/** Ports of this machine alone that it listens on. */
export interface NatsPorts {
  readonly clients: number;
  readonly monitoring: number;
}

const ROLES = Object.keys(NATS_PERMISSIONS) as readonly NatsRole[];

/** Name of the variable of a role's password. */
function variableOf(role: NatsRole): string {
  return `VARVE_DEMO_${role.toUpperCase()}`;
}

/**
 * Its configuration. Passwords are variables of its environment. A value that is no text to it would be no password: they begin with a
 * letter.
 */
export function natsConfig(folder: string, { clients, monitoring }: NatsPorts): string {
  const users = ROLES.map(
    (role) => `      { user: ${role}, password: $${variableOf(role)}, permissions: ${permissionsBlock(role, "      ")} }`,
  );
  return `# Made by \`varve cluster demo\` at each start.
server_name: demo
listen: "127.0.0.1:${clients}"
http: "127.0.0.1:${monitoring}"
pid_file: ${JSON.stringify(pidFile(folder))}
max_payload: 2MB
jetstream { store_dir: ${JSON.stringify(join(folder, "store"))}, sync_interval: always }
accounts {
  VARVE {
    jetstream: enabled
    users: [
${users.join("\n")}
    ]
  }
}
`;
}

/** The environment that its configuration takes the passwords from. */
export function natsEnvironment(passwordOf: (role: NatsRole) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(ROLES.map((role) => [variableOf(role), passwordOf(role)]));
}

/** A secret that NATS takes for a text: 24 random bytes behind a letter. */
export function newSecret(): string {
  return `s${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString("hex")}`;
}

function pidFile(folder: string): string {
  return join(folder, "nats.pid");
}

/** Number of a server's process that an earlier demo left, because it was killed; undefined: there is none. Two would damage the store. */
export function leftServer(folder: string): number | undefined {
  if (!existsSync(pidFile(folder))) return undefined;
  const pid = Number(readFileSync(pidFile(folder), "utf8"));
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined;
  const commandLine = `/proc/${pid}/cmdline`;
  // Numbers are used again: where it can be seen, the process must be one with this configuration.
  return existsSync(commandLine) && !readFileSync(commandLine, "utf8").includes(configFile(folder)) ? undefined : pid;
}

/** Where its configuration lies. */
export function configFile(folder: string): string {
  return join(folder, "nats.conf");
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Ports that nobody listens on at the moment. */
export function freePorts(count: number): readonly number[] {
  const listeners = Array.from({ length: count }, () => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } }));
  const ports = listeners.map(({ port }) => port);
  for (const listener of listeners) listener.stop(true);
  return ports;
}
