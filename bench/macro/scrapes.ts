/**
 * What Prometheus scrapes of a fleet of machines: every host exposes the same metrics, all of its samples of a scrape have one time, and
 * scrapes of a host are exactly an interval apart (Prometheus evens out a jitter of a few milliseconds itself).
 *
 * Values change like those of node_exporter on machines that work, by `metric % 20`:
 *
 * | share | kind | each scrape |
 * |---|---|---|
 * | 40 % | constant: limits, sizes, infos, errors that never happen; half of them 0 | the same |
 * | 20 % | busy counter, integer: bytes, packets, switches; 1 to 1e6 an interval | + rate × 0.5 to 1.5 |
 * | 10 % | quiet counter, integer | + 1 once in 20 |
 * | 10 % | seconds of a processor or disk, two digits | + 0 to 15 |
 * | 10 % | bytes in use, whole pages of 4,096 | a normal step of 256 pages |
 * | 5 % | load, temperature, two digits | a normal step of 0.1 |
 * | 5 % | durations, nine digits | new |
 *
 * Labels: name, cluster, instance, job, and for 4 metrics in 10 a device.
 */
import { normalTable, seededRandom } from "./random.ts";

/** Metrics that every host exposes. */
export const METRICS_PER_HOST = 1000;

/** The series, and where their values are. */
export interface ScrapePlan {
  readonly hosts: number;
  readonly seed: number;
  readonly intervalSeconds: number;
  /** Milliseconds since 1970 of the first scrape of the first host. */
  readonly startMs: number;
}

/** A label of a series. */
export type Label = readonly [name: string, value: string];

/** Series that all have a sample a round. */
export interface SeriesRounds {
  /** Values of all series in the current round. */
  readonly values: Float64Array;
  /** Milliseconds since 1970 of a series' sample in the current round. */
  timeOf(series: number): number;
  /** Sorted by name. */
  labelsOf(series: number): readonly Label[];
  isCounter(series: number): boolean;
  /** Goes on to the next round. */
  next(): void;
}

const KINDS = 20;

/** Name of a metric: what it is called in node_exporter does not matter, that names are long and alike does. */
function metricName(metric: number): string {
  const subsystems = ["cpu", "disk", "filesystem", "memory", "netstat", "network", "vmstat", "sockstat", "schedstat", "pressure"];
  const suffix = isCounter(metric) ? "total" : "current";
  return `node_${subsystems[metric % subsystems.length]}_item_${String(metric).padStart(3, "0")}_${suffix}`;
}

/** Whether a metric only rises. */
function isCounter(metric: number): boolean {
  const kind = metric % KINDS;
  return kind >= 8 && kind < 16;
}

/** Labels of a series, sorted by name as Prometheus sends them. */
function labelsOf(host: number, metric: number): readonly Label[] {
  const instance = `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}:9100`;
  const device: readonly Label[] = metric % 10 < 4 ? [["device", `nvme${metric % 7}n1`]] : [];
  return [["__name__", metricName(metric)], ["cluster", "eu-central-1"], ...device, ["instance", instance], ["job", "node-exporter"]];
}

/** Values of all series, scrape by scrape. Series are host by host, each with all metrics. */
export class Scrapes implements SeriesRounds {
  readonly plan: ScrapePlan;
  /** Values of the current scrape. */
  readonly values: Float64Array<ArrayBuffer>;
  private readonly rates: Float64Array<ArrayBuffer>;
  private readonly normal: Float64Array = normalTable();
  private random: number;
  private scrape = 0;

  constructor(plan: ScrapePlan) {
    this.plan = plan;
    const series = plan.hosts * METRICS_PER_HOST;
    const random = seededRandom(plan.seed);
    this.random = random.below(0x7fff_ffff) + 1;
    this.rates = new Float64Array(series);
    this.values = Float64Array.from({ length: series }, (_, i) => {
      const kind = i % KINDS; // METRICS_PER_HOST is a multiple of KINDS.
      this.rates[i] = 10 ** (random.next() * 6);
      if (kind < 4) return 0;
      if (kind < 8) return random.below(1 << 20);
      if (kind < 12) return random.below(1e9);
      if (kind < 14) return random.below(1000);
      if (kind < 16) return random.below(1e8) / 100;
      if (kind < 18) return (random.below(1 << 22) + 4096) * 4096;
      return kind < 19 ? random.below(8000) / 100 : random.next();
    });
  }

  /** Hosts are spread over the interval. */
  timeOf(series: number): number {
    const { startMs, intervalSeconds, hosts } = this.plan;
    const host = Math.floor(series / METRICS_PER_HOST);
    return startMs + this.scrape * intervalSeconds * 1000 + Math.floor((host * intervalSeconds * 1000) / hosts);
  }

  labelsOf(series: number): readonly Label[] {
    return labelsOf(Math.floor(series / METRICS_PER_HOST), series % METRICS_PER_HOST);
  }

  isCounter(series: number): boolean {
    return isCounter(series % METRICS_PER_HOST);
  }

  next(): void {
    this.scrape++;
    const { values, rates, normal } = this;
    let random = this.random;
    for (let i = 0; i < values.length; i++) {
      const kind = i % KINDS;
      if (kind < 8) continue;
      random ^= random << 13;
      random ^= random >>> 17;
      random ^= random << 5;
      const share = (random >>> 0) / 2 ** 32;
      const value = values[i] as number;
      if (kind < 12) values[i] = value + Math.round((rates[i] as number) * (0.5 + share));
      else if (kind < 14) values[i] = share < 0.05 ? value + 1 : value;
      else if (kind < 16) values[i] = Math.round((value + share * 15) * 100) / 100;
      else if (kind < 18) values[i] = Math.max(4096, value + Math.round((normal[random & 0xffff] as number) * 256) * 4096);
      else if (kind < 19) values[i] = Math.abs(Math.round((value + (normal[random & 0xffff] as number) / 10) * 100) / 100);
      else values[i] = Math.round(share * 1e9) / 1e9;
    }
    this.random = random;
  }
}
