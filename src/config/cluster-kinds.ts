/** Kinds of values of `[cluster]`. */
import { isOrigin } from "../base/text/endpoint-pattern.ts";
import { parsed, refused } from "../base/text/parsed.ts";
import { type Kind, list, text, tomlString } from "./kind.ts";

/** Least of a secret. Reason: 16 characters of base64 are 96 bits, which nobody tries out. */
const SECRET_CHARACTERS_MIN = 16;

/** Servers of NATS. Users and passwords have keys of their own, so that addresses can be shown. */
export const natsServers: Kind<readonly string[]> = list('a list of addresses such as ["nats://127.0.0.1:4222"]', (items) => {
  const bad = items.find((item) => !isNatsAddress(item));
  if (bad === undefined) return parsed([...new Set(items)]);
  // What holds an "@" holds a password, perhaps.
  return bad.includes("@")
    ? refused("an address holds a user or a password, which have keys of their own: cluster.nats.user, cluster.nats.password")
    : refused(`${tomlString(bad)} is no address of NATS, nats://host:port or tls://host:port`);
});

function isNatsAddress(item: string): boolean {
  const found = /^(?:nats|tls):\/\/(?:[A-Za-z0-9._-]{1,253}|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(item);
  return found !== null && Number(found[1]) <= 65_535;
}

/** Addresses of the servers' monitoring. */
export const natsMonitors: Kind<readonly string[]> = list('a list of addresses such as ["http://127.0.0.1:8222"]', (items) => {
  const bad = items.find((item) => {
    const url = URL.parse(item);
    return url === null || !/^https?:$/.test(url.protocol) || !isOrigin(url);
  });
  return bad === undefined ? parsed(items) : refused("an item is no http or https origin");
});

const NODE_ID = text('a name of letters, digits, "_" and "-", at most 64', (value) =>
  /^[A-Za-z0-9_-]{1,64}$/.test(value) ? undefined : "it holds other characters, or too many",
);

/** Names a node; numbers are names, too, as configurations of the contract have them. */
export const nodeId: Kind<string> = {
  ...NODE_ID,
  fromToml: (value) => NODE_ID.fromToml(typeof value === "number" ? String(value) : value),
};

/** `host:port` that other machines reach. */
export const hostAndPort: Kind<string> = text('a name or address and a port such as "node-1.varve:3001"', (value) => {
  const found = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(value);
  if (found === null) return "it is neither";
  const port = Number(found[1]);
  return port < 1 || port > 65_535 ? "no port has that number" : undefined;
});

/** What machines of the cluster know each other by. */
export const clusterSecret: Kind<string> = text(`${SECRET_CHARACTERS_MIN} visible ASCII characters or more`, (value) => {
  if (!/^[\x21-\x7e]*$/.test(value)) return "it holds other characters";
  return value.length < SECRET_CHARACTERS_MIN || value.length > 1024 ? "it is too short or too long" : undefined;
});

/** A name or a password for NATS. */
export const natsWord: Kind<string> = text("1 to 1,024 visible characters", (value) =>
  /^[^\p{Cc}]{1,1024}$/u.test(value) ? undefined : "it is empty, too long or holds a control character",
);
