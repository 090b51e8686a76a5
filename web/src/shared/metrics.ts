/** The metrics of the server in the text format of Prometheus; empty where the server does not show them here. */
export const readMetrics = (signal: AbortSignal): Promise<string> =>
  fetch("/metrics", { cache: "no-store", signal }).then((response) => (response.ok ? response.text() : ""), () => "");

/** The samples of a metric, each with its labels as they are written: empty, or in braces. */
export function samplesOf(metrics: string, name: string): { labels: string; value: number }[] {
  const lines = metrics.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, "gm"));
  return Array.from(lines, ([, labels = "", value]) => ({ labels, value: Number(value) }));
}
