import { join } from "node:path";
import { tomlString } from "../../../config/kind.ts";
import type { NatsRole } from "../../../cluster/nats/permissions.ts";
import type { NatsPorts } from "./demo-nats.ts";

/** What the files tell. */
interface OperatorFacts {
  readonly home: string;
  readonly ports: NatsPorts;
  readonly secret: string;
  readonly shards: number;
  readonly logSize: string;
  readonly passwordOf: (role: NatsRole) => string;
}

/** Settings of a demo for who looks at it from outside. It holds secrets: the folder is its user's alone. */
export function operatorFile(facts: OperatorFacts): string {
  return `# Made by \`varve cluster demo\` at each start: varve cluster status -c operator.toml
${clusterOf(facts, "operator")}`;
}

/** Settings of one more data node of it, and of its backups: these read files and manifests. */
export function dataNodeFile(facts: OperatorFacts): string {
  return `# Made by \`varve cluster demo\` at each start: varve backup <folder> -c datanode.toml
${clusterOf(facts, "datanode")}bind_addr = "127.0.0.1:0"
shared_dir = ${tomlString(join(facts.home, "store"))}
`;
}

function clusterOf({ ports, secret, shards, logSize, passwordOf }: OperatorFacts, role: NatsRole): string {
  return `[cluster]
servers = ["nats://127.0.0.1:${ports.clients}"]
shards = ${shards}
replicas = 1
log_size = ${tomlString(logSize)}
secret = ${tomlString(secret)}
nats.user = ${tomlString(role)}
nats.password = ${tomlString(passwordOf(role))}
nats.monitors = ["http://127.0.0.1:${ports.monitoring}"]
`;
}
