import { tomlString } from "../../../config/kind.ts";
import type { NatsRole } from "../../../cluster/nats/permissions.ts";
import type { NatsPorts } from "./demo-nats.ts";

/** What the file tells. */
interface OperatorFacts {
  readonly ports: NatsPorts;
  readonly secret: string;
  readonly shards: number;
  readonly logSize: string;
  readonly passwordOf: (role: NatsRole) => string;
}

/** Settings of a demo for who looks at it from outside. It holds secrets: the folder is its user's alone. */
export function operatorFile({ ports, secret, shards, logSize, passwordOf }: OperatorFacts): string {
  return `# Made by \`varve cluster demo\` at each start: varve cluster status -c operator.toml
[cluster]
servers = ["nats://127.0.0.1:${ports.clients}"]
shards = ${shards}
replicas = 1
log_size = ${tomlString(logSize)}
secret = ${tomlString(secret)}
nats.user = "operator"
nats.password = ${tomlString(passwordOf("operator"))}
nats.monitors = ["http://127.0.0.1:${ports.monitoring}"]
`;
}
