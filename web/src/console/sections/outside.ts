/** What others have of a log: cosignatures of witnesses, and anchors. */
import { samplesOf } from "../../shared/metrics.js";
import { dates, t } from "../languages/index.js";

/** The sentences about a log with this checkpoint, on a server with these metrics. */
export function storedOutside(note: string, metrics: string): string[] {
  // The first signature is that of the log itself.
  const cosignatures = Math.max(0, note.split("\n").filter((line) => line.startsWith("— ")).length - 1);
  const witnesses = cosignatures === 0 ? t.log.noWitness : t.log.cosignatures(cosignatures);
  return [witnesses, ...anchors(metrics)];
}

function anchors(metrics: string): string[] {
  const [last] = samplesOf(metrics, "audit_anchor_last_timestamp_seconds");
  if (!last) return [t.log.noMetrics];
  if (last.value === 0) return [t.log.noAnchor];
  const missing = samplesOf(metrics, "audit_anchors_pending").filter(({ value }) => value > 0);
  const late = missing.map(({ labels, value }) => t.log.lacks(t.log.places[/place="(\w+)"/.exec(labels)?.[1] ?? ""] ?? t.log.aPlace, value));
  const when = dates.format(new Date(last.value * 1000));
  return [`${t.log.latestAnchor(when)} ${late.length === 0 ? t.log.allAnchors : t.log.late(late.join(", "))}`];
}
