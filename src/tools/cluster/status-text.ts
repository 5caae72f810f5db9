/** What `varve cluster status` prints. */
import { printHumanSize } from "../../base/text/human-size.ts";
import type { FrontendStatus, NodeStatus, ShardStatus } from "../../cluster/ownership/status.ts";
import type { StreamLook } from "../../cluster/nats/cluster-look.ts";
import { counted } from "../common/shown.ts";
import type { ClusterView } from "./operator.ts";

/** Most lines about what is wrong. Reason: the first ones say what to do. */
const TROUBLES_MAX = 20;

/** The whole text. @param nowMillis since 1970 */
export function statusText(view: ClusterView, nowMillis: number): string {
  const { server, frontends, nodes, shards, streams } = view;
  const troubles = troublesOf(view);
  const parts = [counted(frontends.length, "frontend"), counted(nodes.length, "data node"), counted(shards.length, "shard")];
  return [
    `NATS ${server.version}, asked at ${server.name}; ${parts.join(", ")}`,
    "",
    ...(frontends.length === 0
      ? []
      : [
          table(
            FRONTEND_HEADS,
            frontends.map((each) => frontendCells(each, nowMillis)),
          ),
          "",
        ]),
    table(
      ["NODE", "ADDRESS", "VERSION", "UP", "SHARDS", "MEMORY", ""],
      nodes.map((node) => nodeCells(node, nowMillis)),
    ),
    "",
    table(
      ["SHARD", "STATE", "NODE", "EPOCH", "APPLIED", "BEHIND", "LOG", ""],
      shards.map((shard) => shardCells(shard, streams.get(`LOG${shard.shard}`))),
    ),
    "",
    troubles.length === 0 ? "all is well" : troublesText(troubles),
    "",
  ].join("\n");
}

const FRONTEND_HEADS = ["FRONTEND", "ADDRESS", "HTTP", "VERSION", "UP"];

/** What is not as it should be, most urgent first. */
export function troublesOf({ nodes, shards, streams }: ClusterView): readonly string[] {
  const found: string[] = [];
  for (const { name, leader, behind, replicas, bytes, bytesMax } of streams.values()) {
    if (replicas > 1 && leader === undefined) found.push(`stream ${name} has no leader: it takes nothing until its servers agree on one`);
    else if (behind.length > 0) found.push(`stream ${name} lacks a whole copy on ${behind.join(", ")}`);
    if (bytesMax > 0 && bytes > bytesMax / 2) found.push(`stream ${name} is more than half full: nobody flushes its shard, or too slowly`);
  }
  if (nodes.length === 0) found.push("no data node lives: writes are kept in the log, queries find nobody");
  else if (nodes.every(({ isDraining }) => isDraining))
    found.push("all data nodes drain, and take no shards: start another one, or stop one of them and start it again");
  for (const { id, failing } of nodes) for (const { shard, reason } of failing) found.push(`${id} cannot open shard ${shard}: ${reason}`);
  const unserved = shards.filter(({ state }) => state !== "serving");
  for (const { shard, state } of unserved) found.push(`shard ${shard} is ${state}: queries that need it wait`);
  const moving = shards.filter(({ state, nodeId, assignedId }) => state === "serving" && assignedId !== undefined && assignedId !== nodeId);
  if (moving.length > 0) found.push(`${counted(moving.length, "shard")} will move to other nodes, two at a time`);
  return found;
}

/** What `varve cluster rebalance` prints. */
export function rebalanceText({ nodes, shards }: Pick<ClusterView, "nodes" | "shards">): string {
  const lines = nodes.map(
    ({ id, shardsServed, shardsAssigned, isDraining }) =>
      `${id}: serves ${shardsServed}, should serve ${shardsAssigned}${isDraining ? ", draining" : ""}`,
  );
  const unserved = shards.filter(({ state }) => state !== "serving").length;
  if (unserved > 0) lines.push(`${counted(unserved, "shard")} served by nobody at the moment: varve cluster status says more`);
  const away = shards.filter(({ state, nodeId, assignedId }) => state === "serving" && assignedId !== undefined && nodeId !== assignedId);
  if (away.length > 0) lines.push(`${counted(away.length, "shard")} will move, two at a time`);
  else if (unserved === 0) lines.push("every shard is where it should be");
  lines.push("Nodes move shards by themselves when one comes, goes or drains: there is nothing to start.");
  return `${lines.join("\n")}\n`;
}

function troublesText(troubles: readonly string[]): string {
  const more = troubles.length - TROUBLES_MAX;
  return [...troubles.slice(0, TROUBLES_MAX).map((line) => `! ${line}`), ...(more > 0 ? [`! and ${more} more`] : [])].join("\n");
}

function frontendCells({ id, address, httpAddress, version, startedAtMillis }: FrontendStatus, nowMillis: number): readonly string[] {
  return [id, address, httpAddress, version, ageText(nowMillis - startedAtMillis)];
}

function nodeCells(node: NodeStatus, nowMillis: number): readonly string[] {
  const { id, address, version, startedAtMillis, shardsServed, shardsAssigned, memoryBytes, isDraining } = node;
  const shards = shardsServed === shardsAssigned ? String(shardsServed) : `${shardsServed} of ${shardsAssigned}`;
  return [id, address, version, ageText(nowMillis - startedAtMillis), shards, sizeText(memoryBytes), isDraining ? "draining" : ""];
}

function shardCells(status: ShardStatus, log: StreamLook | undefined): readonly string[] {
  const { shard, state, nodeId = "–", epoch, applied, lagRecords, isKept, assignedId } = status;
  const note = isKept ? `kept from ${assignedId ?? "nobody"}` : assignedId !== undefined && assignedId !== nodeId ? `to ${assignedId}` : "";
  return [
    String(shard),
    state,
    nodeId,
    String(epoch),
    applied === undefined ? "–" : String(applied),
    lagRecords === undefined ? "–" : String(lagRecords),
    log === undefined ? "–" : sizeText(log.bytes),
    note,
  ];
}

/** "3d", "2h", "5m", "12s". */
function ageText(millis: number): string {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)}d`;
  if (seconds >= 7200) return `${Math.floor(seconds / 3600)}h`;
  return seconds >= 120 ? `${Math.floor(seconds / 60)}m` : `${seconds}s`;
}

/** In whole KiB, or MiB from one on; rounded up, so that a little is not nothing. */
function sizeText(bytes: number): string {
  const unit = bytes < 1024 ** 2 ? 1024 : 1024 ** 2;
  return printHumanSize(Math.ceil(bytes / unit) * unit);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
