/** Panels, kept by the server: one dashboard a panel, its definition is JSON of this page. */
import { send } from "../../api/client.ts";
import { settings } from "../../page/settings.ts";

/** A saved query and how its answer is shown. */
export interface Panel {
  readonly title: string;
  readonly language: "sql" | "promql";
  readonly query: string;
  readonly database: string;
  readonly view: "table" | "chart";
}

const FORMAT = "varve-panel/1";

function address(name?: string): string {
  const path = name === undefined ? "/v1/dashboards" : `/v1/dashboards/${encodeURIComponent(name)}`;
  return `${path}?db=${encodeURIComponent(settings.database)}`;
}

/** Saves a panel; one of the same title is replaced. @throws as `send` */
export async function keepPanel(panel: Panel): Promise<void> {
  await send(address(panel.title), {
    method: "POST",
    body: JSON.stringify({ format: FORMAT, ...panel }),
    headers: { "content-type": "application/json" },
  });
}

/** Removes it. @throws as `send` */
export async function removePanel(title: string): Promise<void> {
  await send(address(title), { method: "DELETE" });
}

/** All that this page has saved; dashboards of others are left out. @throws as `send` */
export async function panels(): Promise<readonly Panel[]> {
  const { dashboards = [] } = (await (await send(address())).json()) as {
    readonly dashboards?: readonly { readonly definition?: string }[];
  };
  return dashboards.flatMap(({ definition }) => {
    const panel = panelOf(definition ?? "");
    return panel === undefined ? [] : [panel];
  });
}

function panelOf(definition: string): Panel | undefined {
  try {
    const { format, ...panel } = JSON.parse(definition) as Partial<Panel> & { readonly format?: string };
    return format === FORMAT && typeof panel.title === "string" && typeof panel.query === "string" ? (panel as Panel) : undefined;
  } catch {
    return undefined; // Another program's: not JSON.
  }
}
