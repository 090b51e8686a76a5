/** What others have of a log: cosignatures of witnesses, and anchors. */
import { samplesOf } from "../../shared/metrics.js";

/** The places of anchors, by the label of their metrics. */
const PLACES: Record<string, string> = { time_stamp: "a time-stamp authority", webhook: "the webhook", bucket: "the bucket", directory: "the directory" };

/** The sentences about a log with this checkpoint, on a server with these metrics. */
export function storedOutside(note: string, metrics: string): string[] {
  // The first signature is that of the log itself.
  const cosignatures = Math.max(0, note.split("\n").filter((line) => line.startsWith("— ")).length - 1);
  const witnesses = cosignatures === 0 ? "No witness has cosigned this checkpoint." : `Cosignatures of witnesses on this checkpoint: ${cosignatures}. audit-server log audit verifies them.`;
  return [witnesses, ...anchors(metrics)];
}

function anchors(metrics: string): string[] {
  const [last] = samplesOf(metrics, "audit_anchor_last_timestamp_seconds");
  if (!last) return ["This address does not show the metrics of the server, so this page does not know whether the server makes anchors."];
  if (last.value === 0) return ["This server has made no anchor: a signed list of the heads of all logs, sent outside every hour."];
  const missing = samplesOf(metrics, "audit_anchors_pending").filter(({ value }) => value > 0);
  const late = missing.map(({ labels, value }) => `${PLACES[/place="(\w+)"/.exec(labels)?.[1] ?? ""] ?? "a place"} lacks ${value}`);
  const when = new Date(last.value * 1000).toLocaleString();
  return [`The latest anchor is of ${when}. ${late.length === 0 ? "All places have all anchors." : `Anchors not sent yet: ${late.join(", ")}.`}`];
}
