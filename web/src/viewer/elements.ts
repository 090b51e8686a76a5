import { DateFields } from "./date-fields.js";
import { EventDetails } from "./event-details.js";
import { FacetPanel } from "./facet-panel.js";
import { FilterBar } from "./filter-bar.js";
import { Histogram } from "./histogram.js";
import { ProofMark } from "./proof-mark.js";
import { SearchBox } from "./search-box.js";
import { AuditLogViewer } from "./viewer.js";

/** Defines the elements. Doing so twice, as two scripts on one page may, does nothing. */
export function define(): void {
  const elements: [string, CustomElementConstructor][] = [
    ["audit-log-proof", ProofMark],
    ["audit-log-event", EventDetails],
    ["audit-log-dates", DateFields],
    ["audit-log-search", SearchBox],
    ["audit-log-facets", FacetPanel],
    ["audit-log-filters", FilterBar],
    ["audit-log-histogram", Histogram],
    ["audit-log-viewer", AuditLogViewer],
  ];
  for (const [name, element] of elements) {
    if (!customElements.get(name)) customElements.define(name, element);
  }
}
