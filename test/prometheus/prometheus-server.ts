/**
 * A Prometheus of its own: on a free port, its data in a temporary folder that goes with it. It takes remote writes, scrapes itself and
 * another server, and writes on to that one what it scrapes.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../bench/macro/free-port.ts";

/** Longest wait for a server that starts. */
const READY_MS_MAX = 30_000;

/** How Bun says that nobody listens yet. */
const REFUSED: ReadonlySet<unknown> = new Set(["ConnectionRefused", "ECONNREFUSED"]);

/** Where a program of Prometheus' is; undefined: nowhere on the path. */
export function prometheusProgram(name: "prometheus" | "promtool"): string | undefined {
  return Bun.which(name) ?? undefined;
}

/** See the file header. */
export class PrometheusServer {
  readonly url: string;
  private readonly folder: string;
  private readonly child: Bun.Subprocess;

  private constructor(url: string, folder: string, child: Bun.Subprocess) {
    this.url = url;
    this.folder = folder;
    this.child = child;
  }

  /** @param peer base of the server that is scraped and written to @throws Error when there is none, or it does not start */
  static async start(peer: string): Promise<PrometheusServer> {
    const program = prometheusProgram("prometheus");
    if (program === undefined) throw new Error("there is no prometheus on the path; Debian has it as the package prometheus");
    const folder = await mkdtemp(join(tmpdir(), "varve-prometheus-"));
    const port = freePort();
    const config = join(folder, "prometheus.yml");
    await Bun.write(config, configOf(port, peer));
    const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`, `--web.listen-address=127.0.0.1:${port}`];
    const child = Bun.spawn([program, ...flags, "--web.enable-remote-write-receiver", "--log.level=warn"], {
      stdout: "ignore",
      stderr: Bun.file(join(folder, "log")),
    });
    const server = new PrometheusServer(`http://127.0.0.1:${port}`, folder, child);
    try {
      await server.ready();
    } catch (error) {
      await server.end();
      throw error;
    }
    return server;
  }

  /** Kills it and removes its folder. */
  async end(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.child.exited;
    await rm(this.folder, { recursive: true, force: true });
  }

  private async ready(): Promise<void> {
    for (let waited = 0; waited < READY_MS_MAX && this.child.exitCode === null; waited += 50) {
      await Bun.sleep(50);
      try {
        if ((await fetch(`${this.url}/-/ready`)).ok) return;
      } catch (error) {
        if (!(error instanceof Error && "code" in error && REFUSED.has(error.code))) throw error;
      }
    }
    throw new Error(`Prometheus does not start:\n${await Bun.file(join(this.folder, "log")).text()}`);
  }
}

/** Samples of the past are taken too, in any order. */
function configOf(port: number, peer: string): string {
  return JSON.stringify({
    global: { scrape_interval: "1s" },
    storage: { tsdb: { out_of_order_time_window: "1d" } },
    scrape_configs: [
      { job_name: "prometheus", static_configs: [{ targets: [`127.0.0.1:${port}`] }] },
      { job_name: "varve", static_configs: [{ targets: [new URL(peer).host] }] },
    ],
    remote_write: [{ url: `${peer}/v1/prometheus/write`, queue_config: { batch_send_deadline: "500ms" } }],
  });
}
