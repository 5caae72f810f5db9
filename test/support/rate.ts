/** A rate for benchmarks that decode one body over and over. */

/** Runs `work` and prints its median in rows a second, with a hash of what it decodes. */
export function printRate(name: string, rows: number, hash: number, work: () => void): void {
  const rounds = process.env["VARVE_BENCH_SMOKE"] === "1" ? 1 : 20;
  const millis: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    work();
    millis.push(performance.now() - started);
  }
  const median = millis.sort((a, b) => a - b)[rounds >> 1] ?? 1;
  process.stdout.write(`${name}: ${Math.round(rows / (median / 1000)).toLocaleString("en")} rows/s, hash ${hash.toString(16)}\n`);
}
