/**
 * What each part of a cluster may do at NATS: the permissions of its user. They keep a part from what is another's: a frontend cannot
 * append to a manifest, live as a data node or delete a stream, an operator's look changes nothing.
 *
 * They are no wall between parts that distrust each other: whoever may make consumers can have messages sent to any subject.
 */

/** Who signs in. */
export type NatsRole = "frontend" | "datanode" | "operator";

/** Subjects that a user may publish to and subscribe to, with NATS's wildcards. */
export interface NatsPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The list of snapshots of the catalogue, which lies among the manifests. */
const SNAPSHOTS = "manifest.1048576";

/** Looking at streams, reading messages, following. */
const READING = [
  "$JS.API.STREAM.INFO.*",
  "$JS.API.STREAM.LIST",
  "$JS.API.STREAM.MSG.GET.*",
  "$JS.API.CONSUMER.CREATE.>",
  "$JS.API.CONSUMER.DELETE.>",
] as const;
const PULLING = "$JS.API.CONSUMER.MSG.NEXT.>";
/** Whoever is first makes the streams. None of them can be changed or deleted. */
const MAKING = "$JS.API.STREAM.CREATE.*";
const INBOXES = ["_INBOX.>"] as const;

/** See the file header. */
export const NATS_PERMISSIONS: Readonly<Record<NatsRole, NatsPermissions>> = {
  frontend: {
    publish: [
      "log.*",
      "catalog",
      SNAPSHOTS,
      "lease.*", // Its own (`lease-subject.ts`). One of a shard means nothing without `node.*` and `manifest.*`.
      ...READING,
      PULLING,
      MAKING,
      "$JS.API.STREAM.PURGE.CATALOG",
      "$JS.API.STREAM.PURGE.MANIFEST", // Of old snapshots.
    ],
    subscribe: INBOXES,
  },
  datanode: {
    publish: ["log.*", "catalog", "manifest.*", "lease.*", "node.*", ...READING, PULLING, MAKING, "$JS.API.STREAM.PURGE.*"],
    subscribe: INBOXES,
  },
  operator: {
    publish: [
      "$JS.API.STREAM.INFO.*",
      "$JS.API.STREAM.LIST",
      "$JS.API.CONSUMER.CREATE.LEASE.>",
      "$JS.API.CONSUMER.DELETE.LEASE.*",
      "$JS.API.CONSUMER.MSG.NEXT.LEASE.*",
    ],
    subscribe: INBOXES,
  },
};

/** The permissions of a role as a block of the servers' configuration, a list a line. @param indent before each line but the first */
export function permissionsBlock(role: NatsRole, indent = ""): string {
  const { publish, subscribe } = NATS_PERMISSIONS[role];
  const list = (name: string, subjects: readonly string[]): string => {
    const lines = subjects.map((subject) => `${indent}    ${JSON.stringify(subject)}\n`);
    return `${indent}  ${name}: [\n${lines.join("")}${indent}  ]\n`;
  };
  return `{\n${list("publish", publish)}${list("subscribe", subscribe)}${indent}}`;
}
