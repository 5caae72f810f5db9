/** Samples in the text format of Prometheus, as `/metrics` gives them. */

/** One sample. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A reading of all families. */
export class MetricsReading {
  /** When it was taken, in milliseconds. */
  readonly at: number;
  private readonly families: ReadonlyMap<string, readonly Sample[]>;

  constructor(text: string, at: number) {
    this.at = at;
    const families = new Map<string, Sample[]>();
    for (const line of text.split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      const match = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line);
      if (match === null) continue;
      const labels = Object.fromEntries(
        [...(match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [
          name ?? "",
          (value ?? "").replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter)),
        ]),
      );
      const name = match[1] ?? "";
      const samples = families.get(name);
      const sample = { labels, value: numberOf(match[3] ?? "") };
      if (samples === undefined) families.set(name, [sample]);
      else samples.push(sample);
    }
    this.families = families;
  }

  /** Samples of a family. */
  of(name: string): readonly Sample[] {
    return this.families.get(name) ?? [];
  }

  /** The sum of a family's samples, of those whose labels fit. */
  sum(name: string, fits: (labels: Readonly<Record<string, string>>) => boolean = () => true): number {
    return this.of(name).reduce((sum, { labels, value }) => (fits(labels) ? sum + value : sum), 0);
  }
}

function numberOf(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
