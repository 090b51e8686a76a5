/** One row of the list. */
import { html, nothing, type TemplateResult } from "lit";
import type { ReadableAction } from "../shared/sentence.js";
import type { AuditEvent } from "../shared/types.js";
import { visible } from "../shared/visible.js";
import { icon, readable, textOf } from "./action-labels.js";
import type { Formats } from "./format.js";
import type { ProofChecks } from "./proof-checks.js";

export interface RowState {
  position: number;
  isActive: boolean;
  isOpen: boolean;
  isFresh: boolean;
  isRelative: boolean;
  hasTenant: boolean;
  label: ReadableAction | undefined;
  open: () => void;
}

/** A row whose page is read again. */
export function pendingRow(position: number): TemplateResult {
  return html`<div class="line" role="row" id="row-${position}" aria-rowindex=${position + 2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`;
}

export function row(event: AuditEvent, state: RowState, formats: Formats, checks: ProofChecks): TemplateResult {
  const { position, isActive, isOpen, isFresh, isRelative, hasTenant, label, open } = state;
  const names = [isActive && "active", isOpen && "open", isFresh && "fresh", checks.isTampered(event) && "tampered"];
  const time = isRelative ? formats.relative(event.occurred_at, Date.now()) : formats.absolute(event.occurred_at);
  const { category } = event;
  const categoryName = category ? (formats.messages.categories[category] ?? category) : "–";
  return html`<div class="line ${names.filter(Boolean).join(" ")}" role="row" part="row" id="row-${position}" aria-rowindex=${position + 2} aria-selected=${isOpen} @click=${open}>
    <div role="gridcell" class="when"><time datetime=${event.occurred_at} title=${formats.full(event.occurred_at)}>${time}</time></div>
    <div role="gridcell" class="action">${category ? html`<span class="dot ${category}"></span>` : nothing}${icon(label?.icon)}<span title=${label ? `${textOf(label, event)}\n${event.action}` : nothing}>${label ? readable(label, event) : (event.action ?? "–")}</span>${checks.mark(event, formats)}</div>
    <div role="gridcell" class="category secondary">${categoryName}</div>
    <div role="gridcell" class="who" title=${visible(event.actor?.id ?? "")}>${visible(event.actor?.name ?? event.actor?.id ?? "–")}</div>
    <div role="gridcell" class="what secondary" title=${visible(event.target?.id ?? "")}>${visible(event.target?.name ?? event.target?.id ?? "–")}</div>
    ${hasTenant ? html`<div role="gridcell" class="tenant secondary">${visible(event.tenant_id)}</div>` : nothing}
  </div>`;
}
