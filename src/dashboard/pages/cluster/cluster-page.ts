/** The cluster now: its nodes, who serves which shard, what is wrong. */
import { problemOf, sqlObjects } from "../../api/client.ts";
import { h, show } from "../../page/dom.ts";
import { bytesText, countText } from "../../page/format.ts";
import { every, type Shown } from "../page.ts";
import { type ClusterState, clusterState, type NodeRow, type ShardRow } from "./cluster-state.ts";

const PERIOD_MS = 2000;
const NODES =
  "SELECT peer_type, peer_hostname, peer_addr, version, uptime, memory_usage_bytes, node_status FROM information_schema.cluster_info " +
  "ORDER BY peer_type, peer_hostname";
/** A region's number ends in its shard's, 32 bits. */
const SHARDS =
  "SELECT region_id % 4294967296 AS shard, peer_addr, is_leader, count(*) AS regions FROM information_schema.region_peers " +
  "GROUP BY shard, peer_addr, is_leader ORDER BY shard";

/** Shows the page. */
export function clusterPage(): Shown {
  const content = h("div", { "aria-live": "off" }, h("p", { class: "empty" }, "Asking …"));
  const close = every(PERIOD_MS, async () => {
    try {
      const [nodes, shards] = await Promise.all([sqlObjects(NODES), sqlObjects(SHARDS)]);
      show(content, drawn(clusterState(nodes, shards)));
    } catch (error) {
      show(content, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  });
  return { element: h("div", { class: "page" }, h("h1", {}, "Cluster"), content), close };
}

function drawn({ isCluster, nodes, shards, troubles }: ClusterState): HTMLElement {
  if (!isCluster)
    return h("p", { class: "empty" }, "This server runs alone. `varve frontend start` and `varve datanode start` make a cluster.");
  return h(
    "div",
    {},
    troubles.length === 0
      ? h("p", { class: "hint" }, "All shards are served.")
      : troubles.map((line) => h("p", { class: "problem", role: "alert" }, line)),
    card("Nodes", ["Name", "Role", "Address", "Version", "Up", "Memory", "Shards", ""], nodes.map(nodeCells)),
    card("Shards with tables", ["Shard", "Served by", "Regions", ""], shards.map(shardCells)),
  );
}

function nodeCells({ name, role, address, version, uptime, memoryBytes, shards, isDraining }: NodeRow): readonly string[] {
  const memory = memoryBytes === undefined ? "–" : bytesText(memoryBytes);
  return [name, role, address, version, uptime, memory, shards === undefined ? "" : countText(shards), isDraining ? "draining" : ""];
}

function shardCells({ shard, address, isServed, regions }: ShardRow): readonly string[] {
  return [String(shard), address ?? "nobody", countText(regions), isServed ? "" : "not served"];
}

/** A table with a title; the first cell of a row is its name. */
function card(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  return h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, title)),
    h(
      "div",
      { class: "scroll-x", tabIndex: 0, role: "region", "aria-label": title },
      rows.length === 0
        ? h("p", { class: "empty" }, "None.")
        : h(
            "table",
            {},
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                heads.map((head) => h("th", { scope: "col" }, head)),
              ),
            ),
            h(
              "tbody",
              {},
              rows.map(([name = "", ...cells]) =>
                h(
                  "tr",
                  {},
                  h("th", { scope: "row" }, name),
                  cells.map((cell) => h("td", {}, cell)),
                ),
              ),
            ),
          ),
    ),
  );
}
