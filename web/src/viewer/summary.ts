import { type Api, Failure, type Parameters } from "../shared/api.js";
import type { Summary } from "../shared/types.js";

/** The time zone that a page has counts for where the server does not know the zone of the reader. */
const UTC = "UTC";

/** The counts over time, by category, with the hours, days, weeks and months of a time zone. */
export async function readSummary(api: Api, parameters: Parameters, zone: string, signal?: AbortSignal): Promise<Summary> {
  try {
    const summary = await api.get<Summary>("/events/summary", { ...parameters, split: "category", time_zone: zone }, signal);
    return { ...summary, zone };
  } catch (error) {
    const isUnknown = error instanceof Failure && error.details.some(({ field }) => field === "time_zone");
    // A browser may know zones that are newer than the server.
    if (isUnknown && zone !== UTC) return readSummary(api, parameters, UTC, signal);
    throw error;
  }
}
